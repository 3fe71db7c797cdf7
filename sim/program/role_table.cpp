#include "sim/program/role_table.h"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace moesim {

RoleTable::RoleTable(const Program& program) : role_of_(program.num_ranks, kNone) {
  for (const Role& role : program.roles) {
    for (const int rank : role.ranks) {
      CHECK(0 <= rank && rank < program.num_ranks, "role '{}' holds rank {}", role.name, rank);
      CHECK(role_of_[rank] == kNone, "rank {} has two roles", rank);
      role_of_[rank] = size();
    }
    ranks_.push_back(role.ranks);
  }
  std::vector<int> rest;
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    if (role_of_[rank] == kNone) {
      role_of_[rank] = size();
      rest.push_back(rank);
    }
  }
  if (!rest.empty()) {
    ranks_.push_back(std::move(rest));
  }
  all_.resize(ranks_.size());
  std::iota(all_.begin(), all_.end(), 0);
}

std::string RoleTable::where(const Program& program, int role) const {
  if (size() <= 1) {
    return {};
  }
  if (role == static_cast<int>(program.roles.size())) {
    return " on ranks without a role";
  }
  return fmt::format(" on role '{}'", program.roles[role].name);
}

}  // namespace moesim
