#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/happens_before.h"
#include "sim/program/role_table.h"

namespace moesim {

// When the tasks of one role use its tensors, by the order that the verifier proves: the role's own
// streams, the waits that protect data, and host waits. What others read of a rank's memory they
// read within a collective of the rank itself.
class TensorLives {
 public:
  TensorLives(const Program& program, const RoleTable& roles, int role);

  // Whether any task of the role reads or writes it.
  bool is_used(int tensor) const { return !uses_[tensor].empty(); }

  // Whether, for either order of the two, every access of the one is over before the first of the
  // other begins.
  bool are_apart(int one, int other) const {
    return is_over_before(one, other) || is_over_before(other, one);
  }

 private:
  // Of a tensor on one stream: the others lie between.
  struct Use {
    int stream = kNone;
    int first_task = kNone;
    int last_task = kNone;
  };

  void use(int tensor, int stream, int task);
  bool is_over_before(int earlier, int later) const;

  HappensBefore order_;
  std::vector<std::vector<Use>> uses_;  // by tensor
};

}  // namespace moesim
