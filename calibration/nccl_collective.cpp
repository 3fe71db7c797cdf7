#include "calibration/nccl_collective.h"

#include <array>

#include "sim/base/check.h"

namespace moesim {
namespace {

using enum CollectiveOperation;

constexpr std::array kCollectives = {
    NcclCollective{.name = "all_reduce", .operation = kAllReduce},
    NcclCollective{.name = "all_gather", .operation = kAllGather, .counts_parts = true},
    NcclCollective{.name = "reduce_scatter", .operation = kReduceScatter, .counts_parts = true},
    NcclCollective{
        .name = "alltoall", .operation = kAllToAll, .counts_parts = true, .in_place = false},
    NcclCollective{.name = "sendrecv", .operation = kShift, .in_place = false},
    NcclCollective{.name = "broadcast", .operation = kBroadcast},
    NcclCollective{.name = "reduce", .operation = std::nullopt},
    NcclCollective{.name = "gather", .operation = std::nullopt, .counts_parts = true},
    NcclCollective{.name = "scatter", .operation = std::nullopt, .counts_parts = true}};

}  // namespace

const NcclCollective* find_nccl_collective(std::string_view name) {
  if (name.ends_with("_perf")) {
    name.remove_suffix(std::string_view("_perf").size());
  }
  for (const NcclCollective& collective : kCollectives) {
    if (collective.name == name) {
      return &collective;
    }
  }
  return nullptr;
}

const NcclCollective& nccl_collective(CollectiveOperation operation) {
  for (const NcclCollective& collective : kCollectives) {
    if (collective.operation == operation) {
      return collective;
    }
  }
  CHECK(false, "no such operation");
}

std::vector<std::string> nccl_collective_names() {
  std::vector<std::string> names;
  for (const NcclCollective& collective : kCollectives) {
    names.emplace_back(collective.name);
  }
  return names;
}

double busbw_factor(const NcclCollective& collective, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (collective.operation == kAllReduce) {
    return 2 * others;
  }
  return collective.counts_parts ? others : 1;
}

}  // namespace moesim
