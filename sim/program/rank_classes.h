#pragma once

#include <vector>

#include "sim/program/communicators.h"

namespace moesim {

// Ranks that see the same of the Program's collectives: the coarsest partition in which ranks of a
// class have one role and, in every group that collectives use, members of the same classes beside
// them. What holds between classes holds between ranks: a path from class to class can be followed
// from any rank of the first.
struct RankClasses {
  std::vector<int> class_of;         // by rank, numbered by lowest rank
  std::vector<int> representatives;  // by class
};

RankClasses stable_rank_classes(const Program& program,
                                const RoleTable& roles,
                                const IssuedCollectives& issued);

}  // namespace moesim
