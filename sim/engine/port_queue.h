#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// One way of one port, shared by weight: of users with weights w_i, user i drains w_i / sum(w)
// seconds of its exclusive load per second (weighted processor sharing).
//
// Kept as virtual time V, which grows by 1 / sum(w): a user that enters with load L leaves when V
// has grown by L / w (Parekh and Gallager, "A generalized processor sharing approach to flow
// control", 1993). All arithmetic is in integers of 2^-32 ps, rounded towards leaving early by less
// than a unit; `end` is then rounded up to a whole picosecond. So a user alone leaves exactly at
// start + load, and whenever the port has worked off a whole number of picoseconds that is exact
// too: a port is never faster than its loads add up to.
class PortQueue {
 public:
  struct User {
    int collective = 0;
    Time end;  // if nobody else enters

    __extension__ __int128 finish = 0;  // virtual time, 2^-32 ps per weight unit
    std::int64_t weight = 0;            // of kWeightUnit
  };

  // A user enters with its exclusive load (positive) and weight (a multiple of 2^-16, or rounded to
  // one) at `now`, never before an earlier call's.
  // Then users() holds whoever is still there, with new ends.
  void enter(Time now, int collective, Time load, double weight);

  const std::vector<User>& users() const { return users_; }

 private:
  __extension__ using Wide = __int128;

  void drain_until(Wide now);
  void predict();

  std::vector<User> users_;  // in the order in which they leave
  Wide clock_ = 0;           // up to where virtual_time_ is known
  Wide virtual_time_ = 0;
  std::int64_t total_weight_ = 0;
};

}  // namespace moesim
