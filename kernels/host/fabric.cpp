#include "kernels/host/fabric.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

// The ports of a GPU, in this order for every GPU.
enum Port { kIntraOut, kIntraIn, kInterOut, kInterIn, kNumPorts };

int link(int rank, Port port) {
  return rank * kNumPorts + port;
}

// Tokens for the member's share of the experts: they are dealt out in equal runs.
int64_t routed_tokens(const std::vector<int>& tokens, int member, int num_members) {
  const auto experts = static_cast<int64_t>(tokens.size());
  return std::accumulate(tokens.begin() + experts * member / num_members,
                         tokens.begin() + experts * (member + 1) / num_members,
                         int64_t{0});
}

// `bytes` is the send buffer of the member with the most tokens.
Traffic routed_traffic(const Routing& routing, int64_t bytes, const std::vector<int>& members) {
  const int size = static_cast<int>(members.size());
  int64_t most = 1;
  for (const int rank : members) {
    most = std::max(most, routed_tokens(routing.tokens[rank], 0, 1));
  }
  Traffic traffic(size, std::vector<int64_t>(size));
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      const int64_t tokens = routed_tokens(routing.tokens[members[from]], to, size);
      traffic[from][to] = bytes / most * tokens + bytes % most * tokens / most;
    }
  }
  return traffic;
}

}  // namespace

Traffic traffic_of(const MovePlan& plan, int64_t row_bytes, int num_members) {
  Traffic traffic(num_members, std::vector<int64_t>(num_members));
  for (const std::vector<Move>& step : plan.steps) {
    for (const Move& move : step) {
      traffic[move.from.member][move.to.member] += move.rows * row_bytes;
    }
  }
  return traffic;
}

Traffic traffic_of(const Program& program,
                   const Collective& collective,
                   const std::vector<int>& members) {
  const int size = static_cast<int>(members.size());
  const int64_t part = collective.bytes / size;
  Traffic traffic(size, std::vector<int64_t>(size, part));
  switch (collective.operation) {
    case CollectiveOperation::kAllReduce:
      return Traffic(size, std::vector<int64_t>(size, 2 * part));
    case CollectiveOperation::kAllGather:
    case CollectiveOperation::kReduceScatter:
      return traffic;
    case CollectiveOperation::kAllToAll:
      return collective.routing == kNone
                 ? traffic
                 : routed_traffic(program.routings[collective.routing], collective.bytes, members);
    case CollectiveOperation::kShift:
    case CollectiveOperation::kBroadcast:
      break;
  }
  traffic = Traffic(size, std::vector<int64_t>(size));
  if (collective.operation == CollectiveOperation::kBroadcast) {
    traffic[collective.root].assign(size, collective.bytes);
    return traffic;
  }
  for (int64_t from = 0; from < size; ++from) {
    const int64_t to = from + collective.distance;
    if (collective.wrap || (0 <= to && to < size)) {
      traffic[from][(to % size + size) % size] = collective.bytes;
    }
  }
  return traffic;
}

Fabric::Fabric(const Cluster& cluster, const Program& program) : cluster_(cluster) {
  if (cluster.num_gpus() < program.num_ranks) {
    throw Error(fmt::format(
        "the program has {} ranks, cluster '{}' {} GPUs; give a cluster with one for each rank",
        program.num_ranks,
        cluster.name,
        cluster.num_gpus()));
  }
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    rates_.insert(rates_.end(), 2, cluster.intra_node.bytes_per_second);
    rates_.insert(rates_.end(), 2, cluster.inter_node.bytes_per_second);
  }
}

std::vector<Flow> Fabric::flows(const Traffic& traffic, const std::vector<int>& members) const {
  std::vector<Flow> flows;
  for (size_t from = 0; from < members.size(); ++from) {
    for (size_t to = 0; to < members.size(); ++to) {
      if (from == to || traffic[from][to] == 0) {
        continue;
      }
      const bool near = node(members[from]) == node(members[to]);
      flows.push_back({traffic[from][to],
                       {link(members[from], near ? kIntraOut : kInterOut),
                        link(members[to], near ? kIntraIn : kInterIn)}});
    }
  }
  return flows;
}

Time Fabric::latency(const std::vector<int>& members) const {
  double seconds = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool near = node(members[i]) == node(members[j]);
      seconds =
          std::max(seconds, (near ? cluster_.intra_node : cluster_.inter_node).latency_seconds);
    }
  }
  return Time::from_seconds(seconds);
}

}  // namespace moesim
