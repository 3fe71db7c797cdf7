#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/group_table.h"
#include "sim/program/role_table.h"

namespace moesim {

// The tasks that a rank runs, in launch order: those of its role, and collectives only of groups
// that it belongs to.
std::vector<int> tasks_of_rank(const Program& program,
                               const RoleTable& roles,
                               const GroupTable& groups,
                               int rank);

// By task, the earlier tasks of the rank whose results it reads, but for those that another of them
// has read and written over: of the additions to a sum only the last. A task without regions says
// by its waits what it needs, and by the waits of others who needs it; `order_only` protects no
// data.
std::vector<std::vector<int>> data_dependences(const Program& program,
                                               const RoleTable& roles,
                                               const GroupTable& groups,
                                               int rank);

// Whether all ranks of a role have the same dependences: no region depends on a place in a group.
bool dependences_are_alike(const Program& program, const GroupTable& groups);

}  // namespace moesim
