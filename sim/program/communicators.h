#pragma once

#include <compare>
#include <map>
#include <vector>

#include "sim/program/problems.h"
#include "sim/program/role_table.h"

namespace moesim {

// Where collectives of different ranks meet: a group on a stream.
struct Communicator {
  int group = kNone;
  int stream = kNone;

  friend auto operator<=>(const Communicator&, const Communicator&) = default;
};

// The collective tasks of each role on each communicator, in launch order: [role][k].
using IssuedCollectives = std::map<Communicator, std::vector<std::vector<int>>>;

IssuedCollectives issued_collectives(const Program& program, const RoleTable& roles);

// Notes, for each communicator and pair of roles that meet on it, the first collectives that do not
// match: in operation, bytes, root, distance, or the rows that they move. True when all match.
bool check_matching(const Program& program,
                    const RoleTable& roles,
                    const IssuedCollectives& issued,
                    Problems& problems);

// Notes a cycle among tasks, where matching collectives are one task. Everything must match.
void check_deadlock(const Program& program,
                    const RoleTable& roles,
                    const IssuedCollectives& issued,
                    int hardware_queues,
                    Problems& problems);

}  // namespace moesim
