#include "sim/collective/collective_cost.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/cluster/groups.h"
#include "sim/collective/cost_curve.h"
#include "sim/collective/flows.h"

namespace moesim {
namespace {

bool is_intra(int port) {
  return port == static_cast<int>(Port::kIntraOut) || port == static_cast<int>(Port::kIntraIn);
}

bool is_out(int port) {
  return port == static_cast<int>(Port::kIntraOut) || port == static_cast<int>(Port::kInterOut);
}

// Whether a member's part in a collective crosses the port at all. A SHIFT is one message each way.
bool crosses(CollectiveOperation operation, const MemberPlace& place, int port) {
  if (operation != CollectiveOperation::kShift) {
    return true;
  }
  const Reach reach = is_out(port) ? place.sends : place.receives;
  return reach == (is_intra(port) ? Reach::kNode : Reach::kFabric);
}

bool has_regions(const Task& task) {
  return !task.reads.empty() && !task.writes.empty();
}

// A profile's slope is per nominal byte of the send buffer, of which (n-g)/n crosses the inter-node
// port and (g-1)/n the intra-node port (n members, g on this one's node): a member that moves b
// bytes over a port loads it like a balanced all-to-all of b * n/(n-g) or b * n/(g-1) bytes.
std::array<double, kNumPorts> balanced_bytes(const Exchange& moved,
                                             const MemberPlace& place,
                                             double row_bytes) {
  const auto balanced = [&](int64_t rows, int reached) {
    return reached == 0 ? 0.0 : static_cast<double>(rows) * row_bytes * place.size / reached;
  };
  return {balanced(moved.sent_on_node, place.on_node - 1),
          balanced(moved.received_on_node, place.on_node - 1),
          balanced(moved.sent_off_node, place.size - place.on_node),
          balanced(moved.received_off_node, place.size - place.on_node)};
}

}  // namespace

Time CollectiveLoad::alone() const {
  return startup + std::max(of_its_own, *std::max_element(load.begin(), load.end()));
}

CollectiveCosts::CollectiveCosts(const Program& program,
                                 const Cluster& cluster,
                                 const Profile& profile,
                                 const ValidRows& valid_rows)
    : program_(&program),
      cluster_(&cluster),
      profile_(&profile),
      valid_rows_(&valid_rows),
      row_traffic_(program, valid_rows) {
  if (cluster.links != nullptr) {
    links_.emplace(program, cluster);
    bottlenecks_.emplace(*cluster.links);
  }
}

bool CollectiveCosts::depends_on_rank(const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  return has_regions(task) ? !valid_rows_->all_full()
                           : collective.routing != kNone &&
                                 collective.operation == CollectiveOperation::kAllToAll;
}

CollectiveLoad CollectiveCosts::load(const Task& task,
                                     const std::vector<int>& members,
                                     int index) const {
  const MemberPlace place = places_of(*cluster_, members)[index];
  return load(task, Member{.ranks = &members, .index = index, .place = place});
}

CollectiveLoad CollectiveCosts::load(const Task& task, const Member& member) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  PortBytes bytes{};
  if (!depends_on_rank(task) || member.place.size == 1) {
    bytes.fill(static_cast<double>(collective.bytes));
  } else if (!has_regions(task)) {
    bytes = routed_bytes(task, member);
  } else if (collective.operation == CollectiveOperation::kAllToAll) {
    bytes = exchange_bytes(task, member);
  } else {
    bytes = valid_bytes(task, member);
  }
  return priced(collective, member, bytes);
}

const std::vector<std::string>& CollectiveCosts::assumptions() const {
  return assumptions_;
}

// `bytes` holds for each port the nominal size of the balanced collective that would load it as
// much as this member's part does.
CollectiveLoad CollectiveCosts::priced(const Collective& collective,
                                       const Member& member,
                                       const PortBytes& bytes) const {
  MemberPlace place = member.place;
  if (place.size == 1) {
    return {};
  }
  CachedTariff& cached = tariff(collective.operation, place);
  if (collective.operation == CollectiveOperation::kShift) {
    place = shift_place(*cluster_, *member.ranks, member.index, collective, place);
  }
  CollectiveLoad load;
  load.weight = cached.tariff.weight;
  double startup = 0;
  for (int port = 0; port < kNumPorts; ++port) {
    const PortPrice& price = is_intra(port) ? cached.tariff.intra : cached.tariff.inter;
    if (!price.used || !crosses(collective.operation, place, port)) {
      continue;
    }
    const double size = bytes[port];
    startup = std::max(startup, price.startup_seconds);
    if (links_ && (!price.measured || is_on_links(cached, price))) {
      continue;  // the links say what it takes
    }
    const Time time = checked_time(price.seconds(size), to_string(collective.operation));
    if (price.bottleneck == BottleneckPlace::kPrivate) {
      load.of_its_own = std::max(load.of_its_own, time);
    } else {
      load.load[port] = time;
    }
    note_extrapolation(price, size, cached);
  }
  load.startup = checked_time(startup, to_string(collective.operation));
  return load;
}

CollectiveCosts::CachedTariff& CollectiveCosts::tariff(CollectiveOperation operation,
                                                       MemberPlace place) const {
  for (CachedTariff& cached : tariffs_) {
    if (cached.operation == operation && cached.place == place) {
      return cached;
    }
  }
  Tariff made = make_tariff(*profile_, *cluster_, operation, place);
  for (const std::string& assumption : made.assumptions) {
    note(assumption);
  }
  return tariffs_.emplace_back(CachedTariff{operation, place, std::move(made)});
}

void CollectiveCosts::note(const std::string& assumption) const {
  if (std::find(assumptions_.begin(), assumptions_.end(), assumption) == assumptions_.end()) {
    assumptions_.push_back(assumption);
  }
}

void CollectiveCosts::note_extrapolation(const PortPrice& price,
                                         double bytes,
                                         CachedTariff& cached) const {
  if (cached.extrapolated || !price.extrapolates(bytes)) {
    return;
  }
  cached.extrapolated = true;
  note(fmt::format("{}: measured from {} to {}; extrapolated beyond with the nearest slope",
                   describe(price.entry->operation, price.entry->span),
                   format_bytes(price.entry->points.front().size),
                   format_bytes(price.entry->points.back().size)));
}

// Where counts of tokens differ, everyone moves the valid rows of the whole; a SHIFT what one
// member has.
CollectiveCosts::PortBytes CollectiveCosts::valid_bytes(const Task& task,
                                                        const Member& member) const {
  const auto bytes_of = [&](const Region& region) {
    const Tensor& tensor = program_->tensors[region.tensor];
    return static_cast<double>(row_traffic_.valid_rows(region, member.rank()) * tensor.row_bytes());
  };
  const double read = bytes_of(task.reads[0]);
  const double written = bytes_of(task.writes[0]);
  switch (std::get<Collective>(task.descriptor).operation) {
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
CollectiveCosts::PortBytes CollectiveCosts::exchange_bytes(const Task& task,
                                                           const Member& member) const {
  const Tensor& tensor = program_->tensors[task.reads[0].tensor];
  return balanced_bytes(row_traffic_.exchange(*cluster_, task, member),
                        member.place,
                        static_cast<double>(tensor.row_bytes()));
}

// Without regions, the task's bytes are the send buffer of the member with the most tokens.
CollectiveCosts::PortBytes CollectiveCosts::routed_bytes(const Task& task,
                                                         const Member& member) const {
  const auto bytes = static_cast<double>(std::get<Collective>(task.descriptor).bytes);
  const RowTraffic::Routed routed = row_traffic_.routed(*cluster_, task, member);
  return balanced_bytes(routed.tokens, member.place, bytes / static_cast<double>(routed.most));
}

// A time that is spent on links can be told from one entry only.
bool CollectiveCosts::is_on_links(const CachedTariff& cached, const PortPrice& price) const {
  const Tariff& tariff = cached.tariff;
  const bool is_one_entry =
      !tariff.intra.used || !tariff.inter.used || tariff.intra.entry == tariff.inter.entry;
  return links_ && price.bottleneck == BottleneckPlace::kLink && price.entry != nullptr &&
         is_one_entry;
}

const PortPrice* CollectiveCosts::price_on_links(const Collective& collective) const {
  for (const std::vector<int>& members : program_->groups[collective.group].members) {
    if (members.size() > 1) {
      const CachedTariff& cached =
          tariff(collective.operation, places_of(*cluster_, members).front());
      const PortPrice& price = cached.tariff.inter.used ? cached.tariff.inter : cached.tariff.intra;
      return is_on_links(cached, price) ? &price : nullptr;
    }
  }
  return nullptr;
}

CollectiveCosts::LinkKey CollectiveCosts::link_key(const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const PortPrice* price = links_ ? price_on_links(collective) : nullptr;
  const bool is_table = price != nullptr && !price->entry->points.empty();
  return {traffic_key(collective), is_table ? collective.bytes : 0};
}

std::shared_ptr<const GroupLoads> CollectiveCosts::link_loads(const Task& task) const {
  if (!links_) {
    return nullptr;
  }
  const auto& collective = std::get<Collective>(task.descriptor);
  const bool is_unequal = depends_on_rank(task);
  const PortPrice* price = price_on_links(collective);
  if (!is_unequal && price == nullptr) {
    return links_->of(collective);
  }
  std::shared_ptr<const GroupLoads>& loads =
      is_unequal ? unequal_loads_[unequal_key(task)] : at_bottlenecks_[link_key(task)];
  if (loads == nullptr) {
    loads = price == nullptr ? std::make_shared<const GroupLoads>(unequal_group_loads(task))
                             : loads_at_bottleneck(*price, task);
  }
  return loads;
}

std::shared_ptr<const GroupLoads> CollectiveCosts::loads_at_bottleneck(const PortPrice& price,
                                                                       const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const CollectiveCost& entry = *price.entry;
  const std::shared_ptr<const GroupLoads> balanced = links_->of(collective);
  const auto bytes = static_cast<double>(std::max<std::int64_t>(1, collective.bytes));
  const double factor = bottlenecks_->factor(entry, *balanced, price.seconds(bytes) / bytes);
  note(fmt::format("{}: its time is taken to be spent on {}, which others share",
                   describe(entry.operation, entry.span),
                   visible_in_line(entry.bottleneck_link)));
  return bottlenecks_->multiplied(
      entry, depends_on_rank(task) ? unequal_group_loads(task) : *balanced, factor);
}

CollectiveCosts::UnequalKey CollectiveCosts::unequal_key(const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  if (!has_regions(task)) {
    return {traffic_key(collective), {}, {collective.bytes, collective.routing, 0}};
  }
  const auto row_bytes = [&](const Region& region) {
    return program_->tensors[region.tensor].row_bytes();
  };
  return {traffic_key(collective),
          row_traffic_.moved(task),
          {collective.bytes, row_bytes(task.reads[0]), row_bytes(task.writes[0])}};
}

GroupLoads CollectiveCosts::unequal_group_loads(const Task& task) const {
  std::vector<std::vector<MediumLoad>> loads;
  const Group& group = program_->groups[std::get<Collective>(task.descriptor).group];
  for (int instance = 0; instance < std::ssize(group.members); ++instance) {
    loads.push_back(unequal_link_loads(task, instance));
  }
  const auto num_media = static_cast<int>(cluster_->links->topology.media().size());
  return group_loads(std::move(loads), num_media);
}

CollectiveCosts::SentBytes CollectiveCosts::sent_bytes(const Task& task,
                                                       const std::vector<int>& members) const {
  if (has_regions(task)) {
    const auto row_bytes = static_cast<double>(program_->tensors[task.reads[0].tensor].row_bytes());
    return [this, &task, &members, row_bytes](int from) {
      std::vector<double> sent;
      for (const std::int64_t rows : valid_rows_->sent_rows(task, members, from)) {
        sent.push_back(row_bytes * static_cast<double>(rows));
      }
      return sent;
    };
  }
  const RowTraffic::Routed routed = row_traffic_.routed(
      *cluster_,
      task,
      Member{.ranks = &members, .index = 0, .place = places_of(*cluster_, members)[0]});
  const double bytes = static_cast<double>(std::get<Collective>(task.descriptor).bytes) /
                       static_cast<double>(routed.most);
  return [this, &task, &members, bytes](int from) {
    std::vector<double> sent;
    for (int to = 0; to < std::ssize(members); ++to) {
      sent.push_back(bytes *
                     static_cast<double>(row_traffic_.routed_tokens(task, members, from, to)));
    }
    return sent;
  };
}

double CollectiveCosts::fullest_bytes(const Task& task, const std::vector<int>& members) const {
  const std::vector<MemberPlace> places = places_of(*cluster_, members);
  double most = 0;
  for (int i = 0; i < std::ssize(members); ++i) {
    const PortBytes bytes =
        valid_bytes(task, Member{.ranks = &members, .index = i, .place = places[i]});
    most = std::max(most, *std::max_element(bytes.begin(), bytes.end()));
  }
  return most;
}

std::vector<MediumLoad> CollectiveCosts::unequal_link_loads(const Task& task, int instance) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const std::vector<int>& members = program_->groups[collective.group].members[instance];
  if (collective.operation == CollectiveOperation::kAllToAll) {
    return links_->of_exchange(members, sent_bytes(task, members));
  }
  const double most = fullest_bytes(task, members);
  std::vector<MediumLoad> loads = links_->of(collective)->of_instance[instance];
  for (MediumLoad& load : loads) {
    load.seconds *= most;
  }
  return loads;
}

std::vector<Message> CollectiveCosts::messages(const Task& task, int instance) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const std::vector<int>& members = program_->groups[collective.group].members[instance];
  const bool unequal = depends_on_rank(task);
  std::vector<int> nodes;
  for (const int rank : members) {
    nodes.push_back(node_of(*cluster_, rank));
  }
  std::function<double(const MemberFlow&)> bytes = [](const MemberFlow& flow) {
    return flow.share;
  };
  if (unequal && collective.operation == CollectiveOperation::kAllToAll) {
    std::vector<std::vector<double>> sent;
    const SentBytes of_member = sent_bytes(task, members);
    for (int from = 0; from < std::ssize(members); ++from) {
      sent.push_back(of_member(from));
    }
    bytes = [sent = std::move(sent)](const MemberFlow& flow) { return sent[flow.from][flow.to]; };
  } else if (unequal) {
    bytes = [most = fullest_bytes(task, members)](const MemberFlow& flow) {
      return flow.share * most;
    };
  }
  std::vector<Message> messages;
  for_each_flow(collective, nodes, [&](const MemberFlow& flow) {
    if (const double size = bytes(flow); size > 0) {
      messages.push_back({flow.from, flow.to, size});
    }
  });
  return messages;
}

}  // namespace moesim
