#include "sim/collective/collective_traffic.h"

#include <algorithm>
#include <utility>

#include "sim/cluster/cluster_links.h"
#include "sim/collective/member_place.h"

namespace moesim {
namespace {

bool has_regions(const Task& task) {
  return !task.reads.empty() && !task.writes.empty();
}

const Collective& collective_of(const Task& task) {
  return std::get<Collective>(task.descriptor);
}

// A profile's slope is per nominal byte of the send buffer, of which (n-g)/n crosses the inter-node
// port and (g-1)/n the intra-node port (n members, g on this one's node): a member that moves b
// bytes over a port loads it like a balanced all-to-all of b * n/(n-g) or b * n/(g-1) bytes.
PortBytes balanced_bytes(const Exchange& moved, const MemberPlace& place, double row_bytes) {
  const auto balanced = [&](int64_t rows, int reached) {
    return reached == 0 ? 0.0 : static_cast<double>(rows) * row_bytes * place.size / reached;
  };
  return {balanced(moved.sent_on_node, place.on_node - 1),
          balanced(moved.received_on_node, place.on_node - 1),
          balanced(moved.sent_off_node, place.size - place.on_node),
          balanced(moved.received_off_node, place.size - place.on_node)};
}

int width(Span span) {
  return span == Span::kBoth ? 2 : span == Span::kFabric ? 1 : 0;
}

}  // namespace

CollectiveTraffic::CollectiveTraffic(const Program& program,
                                     const Cluster& cluster,
                                     const ValidRows& valid_rows)
    : program_(&program),
      cluster_(&cluster),
      valid_rows_(&valid_rows),
      row_traffic_(program, valid_rows) {
  if (cluster.links != nullptr) {
    links_.emplace(program, cluster);
  }
}

bool CollectiveTraffic::depends_on_rank(const Task& task) const {
  const Collective& collective = collective_of(task);
  return has_regions(task) ? !valid_rows_->all_full()
                           : collective.routing != kNone &&
                                 collective.operation == CollectiveOperation::kAllToAll;
}

PortBytes CollectiveTraffic::nominal(const Task& task, const Member& member) const {
  const Collective& collective = collective_of(task);
  if (!depends_on_rank(task) || member.place.size == 1) {
    PortBytes bytes{};
    bytes.fill(static_cast<double>(collective.bytes));
    return bytes;
  }
  if (!has_regions(task)) {
    return routed_bytes(task, member);
  }
  return collective.operation == CollectiveOperation::kAllToAll ? exchange_bytes(task, member)
                                                                : valid_bytes(task, member);
}

// Where counts of tokens differ, everyone moves the valid rows of the whole; a SHIFT what one
// member has.
PortBytes CollectiveTraffic::valid_bytes(const Task& task, const Member& member) const {
  const auto bytes_of = [&](const Region& region) {
    return static_cast<double>(row_traffic_.valid_rows(region, member.rank()) * row_bytes(region));
  };
  const double read = bytes_of(task.reads[0]);
  const double written = bytes_of(task.writes[0]);
  switch (collective_of(task).operation) {
    case CollectiveOperation::kShift:
      return {read, written, read, written};
    case CollectiveOperation::kAllGather:
    case CollectiveOperation::kBroadcast:
      return {written, written, written, written};
    default:
      return {read, read, read, read};
  }
}

// An all-to-all costs each member what it sends to others and receives from them.
PortBytes CollectiveTraffic::exchange_bytes(const Task& task, const Member& member) const {
  return balanced_bytes(row_traffic_.exchange(*cluster_, task, member),
                        member.place,
                        static_cast<double>(row_bytes(task.reads[0])));
}

// Without regions, the task's bytes are the send buffer of the member with the most tokens.
PortBytes CollectiveTraffic::routed_bytes(const Task& task, const Member& member) const {
  const auto bytes = static_cast<double>(collective_of(task).bytes);
  const RowTraffic::Routed routed = row_traffic_.routed(*cluster_, task, member);
  return balanced_bytes(routed.tokens, member.place, bytes / static_cast<double>(routed.most));
}

bool CollectiveTraffic::is_unequal_exchange(const Task& task) const {
  return depends_on_rank(task) && collective_of(task).operation == CollectiveOperation::kAllToAll;
}

double CollectiveTraffic::routed_token_bytes(const Task& task,
                                             const std::vector<int>& members) const {
  const std::vector<MemberPlace> places = places_of(*cluster_, members);
  const RowTraffic::Routed routed = row_traffic_.routed(
      *cluster_, task, Member{.ranks = &members, .index = 0, .place = places[0]});
  return static_cast<double>(collective_of(task).bytes) / static_cast<double>(routed.most);
}

// Of an all-to-all of unequal parts. What a member sends is looked for once, for all others.
Sent CollectiveTraffic::sent_bytes(const Task& task, const std::vector<int>& members) const {
  using Rows = std::vector<std::vector<double>>;
  const auto rows = std::make_shared<Rows>(members.size());
  const double unit = has_regions(task) ? static_cast<double>(row_bytes(task.reads[0]))
                                        : routed_token_bytes(task, members);
  return [this, &task, &members, rows, unit](int from, int to) {
    std::vector<double>& sent = (*rows)[static_cast<std::size_t>(from)];
    if (sent.empty()) {
      for (const std::int64_t count : sent_units(task, members, from)) {
        sent.push_back(unit * static_cast<double>(count));
      }
    }
    return sent[static_cast<std::size_t>(to)];
  };
}

// Rows, or tokens of a routing.
std::vector<std::int64_t> CollectiveTraffic::sent_units(const Task& task,
                                                        const std::vector<int>& members,
                                                        int from) const {
  if (has_regions(task)) {
    return valid_rows_->sent_rows(task, members, from);
  }
  std::vector<std::int64_t> tokens;
  for (int to = 0; to < std::ssize(members); ++to) {
    tokens.push_back(row_traffic_.routed_tokens(task, members, from, to));
  }
  return tokens;
}

std::int64_t CollectiveTraffic::row_bytes(const Region& region) const {
  return program_->tensors[region.tensor].row_bytes();
}

double CollectiveTraffic::fullest_bytes(const Task& task, const std::vector<int>& members) const {
  const std::vector<MemberPlace> places = places_of(*cluster_, members);
  double most = 0;
  for (int i = 0; i < std::ssize(members); ++i) {
    const PortBytes bytes =
        valid_bytes(task, Member{.ranks = &members, .index = i, .place = places[i]});
    most = std::max(most, *std::max_element(bytes.begin(), bytes.end()));
  }
  return most;
}

std::vector<MemberFlow> CollectiveTraffic::messages(const Task& task,
                                                    const FlowStep& step,
                                                    int instance) const {
  const std::vector<int>& members =
      program_->groups[collective_of(task).group].members[static_cast<std::size_t>(instance)];
  const double unit =
      depends_on_rank(task) && !is_unequal_exchange(task) ? fullest_bytes(task, members) : 1;
  std::vector<MemberFlow> messages;
  const Seating seating(nodes_of(*cluster_, members));
  for_each_message(task, step, members, seating, [&](const MemberFlow& flow) {
    if (flow.share > 0) {
      messages.push_back({flow.from, flow.to, flow.share * unit});
    }
  });
  return messages;
}

// For each nominal byte; of an all-to-all of unequal parts in bytes.
void CollectiveTraffic::for_each_message(const Task& task,
                                         const FlowStep& step,
                                         const std::vector<int>& members,
                                         const Seating& seating,
                                         const VisitFlow& visit) const {
  if (is_unequal_exchange(task)) {
    exchange_flows(collective_of(task), step, seating, sent_bytes(task, members), visit);
  } else {
    for_each_flow(collective_of(task), step, seating, visit);
  }
}

void CollectiveTraffic::for_each_way(const std::vector<int>& members,
                                     const std::vector<MemberFlow>& messages,
                                     const VisitWay& visit) const {
  const Seating seating(nodes_of(*cluster_, members));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    visit(i, links_->way(members, seating, messages[i]));
  }
}

// For each nominal byte; of an all-to-all of unequal parts in bytes.
const InstanceTraffic& CollectiveTraffic::traffic_of(const Task& task,
                                                     const FlowStep& step,
                                                     const Member& member) const {
  MessagesKey key{traffic_key(collective_of(task), step), {}, 0};
  if (is_unequal_exchange(task)) {
    std::get<1>(key) = row_traffic_.rows_key(task);
    std::get<2>(key) = has_regions(task) ? row_bytes(task.reads[0]) : 0;
  }
  auto& known = messages_[key];
  const int first = member.ranks->front();
  const auto found = known.find(first);
  return found != known.end()
             ? found->second
             : known.emplace(first, make_messages(task, step, *member.ranks)).first->second;
}

InstanceTraffic CollectiveTraffic::make_messages(const Task& task,
                                                 const FlowStep& step,
                                                 const std::vector<int>& members) const {
  const Seating seating(nodes_of(*cluster_, members));
  return instance_traffic(seating, [&](const VisitFlow& visit) {
    for_each_message(task, step, members, seating, visit);
  });
}

PortBytes CollectiveTraffic::on_wire(const Task& task,
                                     const FlowStep& step,
                                     const Member& member) const {
  const InstanceTraffic& traffic = traffic_of(task, step, member);
  const bool is_exchange = collective_of(task).operation == CollectiveOperation::kAllToAll;
  PortBytes bytes = is_exchange ? traffic.on_wire[member.index] : traffic.most_on_wire;
  if (!is_unequal_exchange(task)) {
    const PortBytes whole = nominal(task, member);
    for (int port = 0; port < kNumPorts; ++port) {
      bytes[port] *= whole[port];
    }
  }
  return bytes;
}

LargestMessages CollectiveTraffic::largest(const Task& task,
                                           const FlowStep& step,
                                           const Member& member) const {
  LargestMessages largest = traffic_of(task, step, member).largest;
  if (!is_unequal_exchange(task)) {
    const PortBytes whole = nominal(task, member);
    const double most = *std::max_element(whole.begin(), whole.end());
    largest.near *= most;
    largest.far *= most;
  }
  return largest;
}

std::shared_ptr<const GroupLoads> CollectiveTraffic::link_loads(const Task& task,
                                                                const FlowStep& step) const {
  if (!links_) {
    return nullptr;
  }
  const Collective& collective = collective_of(task);
  if (!depends_on_rank(task)) {
    return links_->of(collective, step);
  }
  const std::int64_t written = has_regions(task) ? row_bytes(task.writes[0]) : 0;
  const std::int64_t read = has_regions(task) ? row_bytes(task.reads[0]) : 0;
  const UnequalKey key{traffic_key(collective, step),
                       row_traffic_.rows_key(task),
                       {collective.bytes, read, written}};
  std::shared_ptr<const GroupLoads>& loads = unequal_loads_[key];
  if (loads == nullptr) {
    loads = std::make_shared<const GroupLoads>(unequal_group_loads(task, step));
  }
  return loads;
}

GroupLoads CollectiveTraffic::unequal_group_loads(const Task& task, const FlowStep& step) const {
  std::vector<std::vector<MediumLoad>> loads;
  const Group& group = program_->groups[collective_of(task).group];
  for (int instance = 0; instance < std::ssize(group.members); ++instance) {
    loads.push_back(unequal_link_loads(task, step, instance));
  }
  const auto num_media = static_cast<int>(cluster_->links->topology.media().size());
  return group_loads(std::move(loads), num_media);
}

std::shared_ptr<const GroupLoads> CollectiveTraffic::balanced_link_loads(
    const Task& task, const FlowStep& step) const {
  return links_->of(collective_of(task), step);
}

// An all-to-all of unequal parts; other collectives as if everyone moved what the fullest member
// does.
std::vector<MediumLoad> CollectiveTraffic::unequal_link_loads(const Task& task,
                                                              const FlowStep& step,
                                                              int instance) const {
  const Collective& collective = collective_of(task);
  const std::vector<int>& members = program_->groups[collective.group].members[instance];
  if (is_unequal_exchange(task)) {
    const Seating seating(nodes_of(*cluster_, members));
    return links_->of_messages(members, seating, [&](const VisitFlow& visit) {
      for_each_message(task, step, members, seating, visit);
    });
  }
  const double most = fullest_bytes(task, members);
  std::vector<MediumLoad> loads = links_->of(collective, step)->of_instance[instance];
  for (MediumLoad& load : loads) {
    load.seconds *= most;
  }
  return loads;
}

const GroupShape& CollectiveTraffic::shape(const Task& task) const {
  const int group = collective_of(task).group;
  const auto [known, is_new] = shapes_.try_emplace(group);
  GroupShape& shape = known->second;
  if (!is_new) {
    return shape;
  }
  for (const std::vector<int>& members : program_->groups[group].members) {
    const Seating seating(nodes_of(*cluster_, members));
    const MemberPlace place{.size = seating.size(), .nodes = seating.num_nodes()};
    if (seating.size() > 1 && (shape.size == 0 || width(place.span()) > width(shape.span))) {
      shape.span = place.span();
      shape.size = seating.size();
      shape.nodes = seating.num_nodes();
    }
    shape.is_even = shape.is_even && seating.is_even;
    shape.in_switch = shape.in_switch && joined_by_switches(members, seating);
  }
  return shape;
}

bool CollectiveTraffic::joined_by_switches(const std::vector<int>& members,
                                           const Seating& seating) const {
  return !links_ || std::ranges::all_of(seating.on_node, [&](const std::vector<int>& here) {
    return here.size() == 1 || links_->pass_switch(members[here[0]], members[here[1]]);
  });
}

}  // namespace moesim
