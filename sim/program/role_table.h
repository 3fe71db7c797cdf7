#pragma once

#include <string>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// The roles of a Program as disjoint sets of ranks that make up the world: its own roles, then,
// where there are such, the ranks without a role.
class RoleTable {
 public:
  explicit RoleTable(const Program& program);

  int size() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int>& ranks(int role) const { return ranks_[role]; }

  int role_of(int rank) const { return role_of_[rank]; }

  // The roles that run the task.
  const std::vector<int>& running(const Task& task) const {
    return task.roles.empty() ? all_ : task.roles;
  }

  // " on role 'NAME'" for messages, empty where the Program has one role at most.
  std::string where(const Program& program, int role) const;

 private:
  std::vector<std::vector<int>> ranks_;
  std::vector<int> role_of_;  // by rank
  std::vector<int> all_;
};

}  // namespace moesim
