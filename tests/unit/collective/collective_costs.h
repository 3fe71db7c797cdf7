#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "sim/collective/collective_cost.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {

inline constexpr auto kAllToAll = CollectiveOperation::kAllToAll;
inline constexpr auto kAllGather = CollectiveOperation::kAllGather;
inline constexpr auto kAllReduce = CollectiveOperation::kAllReduce;
inline constexpr auto kShift = CollectiveOperation::kShift;

inline std::vector<int> ranks(int count, int first = 0, int stride = 1) {
  std::vector<int> list(count);
  for (int i = 0; i < count; ++i) {
    list[i] = first + i * stride;
  }
  return list;
}

// Loads in the order intra out, intra in, inter out, inter in.
inline std::array<Time, kNumPorts> loads(std::int64_t io,
                                         std::int64_t ii,
                                         std::int64_t eo,
                                         std::int64_t ei) {
  return {ps(io), ps(ii), ps(eo), ps(ei)};
}

// Costs on a cluster of 8 nodes with 4 GPUs, with what a test puts into the profile.
class CollectiveCostTest : public testing::Test {
 protected:
  CollectiveLoad load(const Collective& collective,
                      const std::vector<int>& members,
                      int index = 0) {
    Task task;
    task.descriptor = collective;
    return costs_.load(task, members, index);
  }

  CollectiveLoad load(CollectiveOperation operation,
                      std::int64_t bytes,
                      const std::vector<int>& members,
                      int index = 0) {
    return load(Collective{.operation = operation, .group = 0, .bytes = bytes}, members, index);
  }

  Program program_;
  Cluster cluster_ = make_cluster(8, 4);
  Profile profile_;
  ValidRows valid_rows_{program_};
  CollectiveCosts costs_{program_, cluster_, profile_, valid_rows_};
};
}  // namespace moesim
