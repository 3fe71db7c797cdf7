#include "sim/collective/row_traffic.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/check.h"
#include "sim/cluster/groups.h"

namespace moesim {

RowTraffic::RowTraffic(const Program& program, const ValidRows& valid_rows)
    : program_(program), valid_rows_(valid_rows) {
  if (valid_rows.all_full()) {
    return;
  }
  std::map<const RowCounts*, int> first_with;
  for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
    const RowCounts* counts = valid_rows.counts(tensor);
    first_tensor_.push_back(counts == nullptr ? kNone
                                              : first_with.emplace(counts, tensor).first->second);
  }
}

RowTraffic::RegionKey RowTraffic::key(const Region& region) const {
  const Tensor& tensor = program_.tensors[region.tensor];
  return {first_tensor_[region.tensor],
          tensor.blocks,
          tensor.rows,
          region.first_block,
          region.num_blocks,
          region.first_row,
          region.num_rows,
          region.relative_to};
}

RowTraffic::RowsKey RowTraffic::rows_key(const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  if (task.reads.empty() || task.writes.empty()) {
    return {collective.group, {collective.routing, collective.bytes}, {}};
  }
  return {collective.group, key(task.reads[0]), key(task.writes[0])};
}

std::int64_t RowTraffic::valid_rows(const Region& region, int rank) {
  if (valid_rows_.all_full() || first_tensor_[region.tensor] == kNone) {
    return region.num_list_rows();
  }
  auto& of_ranks = rows_[key(region)];
  of_ranks.resize(program_.num_ranks);
  std::optional<std::int64_t>& rows = of_ranks[rank];
  if (!rows.has_value()) {
    rows = valid_rows_.valid_rows(region, rank);
  }
  return *rows;
}

Exchange RowTraffic::exchange(const Cluster& cluster, const Task& task, const Member& member) {
  CHECK(!valid_rows_.all_full());
  OfRanks& of_ranks = exchanges_[rows_key(task)];
  of_ranks.resize(program_.num_ranks);
  if (!of_ranks[member.rank()].has_value()) {
    add_exchanges(cluster, task, *member.ranks, of_ranks);
  }
  return *of_ranks[member.rank()];
}

// Of all members of an instance at once: each sender's rows are looked at once.
void RowTraffic::add_exchanges(const Cluster& cluster,
                               const Task& task,
                               const std::vector<int>& members,
                               OfRanks& of_ranks) {
  const std::size_t size = members.size();
  std::vector<Exchange> exchanges(size);
  std::vector<std::int64_t> kept(size);
  for (std::size_t from = 0; from < size; ++from) {
    const std::vector<std::int64_t> sent =
        valid_rows_.sent_rows(task, members, static_cast<int>(from));
    kept[from] = sent[from];
    const int node = node_of(cluster, members[from]);
    for (std::size_t to = 0; to < size; ++to) {
      if (to != from && node_of(cluster, members[to]) == node) {
        exchanges[from].sent_on_node += sent[to];
        exchanges[to].received_on_node += sent[to];
      }
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    // Never negative, but where a Program that was not verified writes less than it sends.
    const auto rest = [&](const Region& region, std::int64_t near) {
      return std::max<std::int64_t>(0, valid_rows(region, members[i]) - kept[i] - near);
    };
    exchanges[i].sent_off_node = rest(task.reads[0], exchanges[i].sent_on_node);
    exchanges[i].received_off_node = rest(task.writes[0], exchanges[i].received_on_node);
    of_ranks[members[i]] = exchanges[i];
  }
}

RowTraffic::Routed RowTraffic::routed(const Cluster& cluster,
                                      const Task& task,
                                      const Member& member) const {
  const std::vector<int>& ranks = *member.ranks;
  const auto size = static_cast<std::int64_t>(ranks.size());
  const auto& tokens = program_.routings[std::get<Collective>(task.descriptor).routing].tokens;
  const auto moved = [&](int source, int destination) {
    return routed_tokens(task, ranks, source, destination);
  };
  const std::vector<int> peers = peers_on_node(cluster, ranks, member.index, member.place.on_node);
  Routed routed;
  for (int other = 0; other < size; ++other) {
    const std::vector<int>& sent = tokens[ranks[other]];
    routed.most = std::max(routed.most, std::accumulate(sent.begin(), sent.end(), std::int64_t{0}));
    if (other != member.index) {
      const bool near = std::binary_search(peers.begin(), peers.end(), other);
      Exchange& sums = routed.tokens;
      (near ? sums.sent_on_node : sums.sent_off_node) += moved(member.index, other);
      (near ? sums.received_on_node : sums.received_off_node) += moved(other, member.index);
    }
  }
  return routed;
}

std::int64_t RowTraffic::routed_tokens(const Task& task,
                                       const std::vector<int>& members,
                                       int source,
                                       int destination) const {
  const auto& tokens = program_.routings[std::get<Collective>(task.descriptor).routing].tokens;
  const std::vector<int>& sent = tokens[members[source]];
  const auto size = static_cast<std::int64_t>(members.size());
  const auto num_experts = static_cast<std::int64_t>(sent.size());
  return std::accumulate(sent.begin() + num_experts * destination / size,
                         sent.begin() + num_experts * (destination + 1) / size,
                         std::int64_t{0});
}

}  // namespace moesim
