#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// A GPU's ports: one into its node and one between nodes, each way.
enum class Port { kIntraOut, kIntraIn, kInterOut, kInterIn };
inline constexpr int kNumPorts = 4;

// What a collective costs on one rank: the start-up time, then exclusive use of each port for
// `load[port]`. Alone, it takes startup + max(load). On a port that k collectives use at once,
// each drains in proportion to its weight.
struct CollectiveLoad {
  Time startup;
  std::array<Time, kNumPorts> load{};
  double weight = 1;

  Time alone() const;
};

// Turns collectives into loads from the profile's figures, or, where it has none, from the
// cluster's port rates (docs/model.md). Notes every assumption it had to make once.
class CollectiveCosts {
 public:
  CollectiveCosts(const Program& program, const Cluster& cluster, const Profile& profile,
                  const ValidRows& valid_rows);

  // The load of a collective task on `members[index]` of one group instance; zero for a group of
  // one.
  CollectiveLoad load(const Task& task, const std::vector<int>& members, int index) const;

  // The same for a nominal size of `bytes` instead of the task's own.
  CollectiveLoad load(const Collective& collective, int64_t bytes,
                      const std::vector<int>& members) const;

  const std::vector<std::string>& assumptions() const;

 private:
  const Program* program_;
  const Cluster* cluster_;
  const Profile* profile_;
  const ValidRows* valid_rows_;
  mutable std::vector<std::string> assumptions_;
};

}  // namespace moesim
