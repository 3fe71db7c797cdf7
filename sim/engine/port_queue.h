#pragma once

#include <optional>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// One way of one port, or a link, shared by weighted max-min: a user with load L, in seconds of
// exclusive use, drains in proportion to its weight, but never faster than L in the time that it
// would take alone, which other ports and what is its own decide; what it leaves goes to the others
// (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2, on one link).
//
// Times are picoseconds in floating point of 64 bits, counted from when the port was last free.
// Ends are rounded up to a whole picosecond, and what lies within 1e-4 ps of one is taken for it:
// on a port that is busy for less than minutes on end, a user that nobody slows leaves exactly when
// it would alone, and the last of many when their loads add up.
class PortQueue {
 public:
  struct Use {
    int collective = 0;
    Time load{};   // positive
    Time alone{};  // how long the collective takes alone, where that is longer
    double weight = 1;
  };

  struct User {
    int collective = 0;
    Time end{};  // if nobody else enters: of settle()

    long double weight = 1;
    long double cap = 1;   // the fastest that it drains; 1 is the whole port
    long double left = 0;  // of its load, when somebody last entered
  };

  // At `now`, never before an earlier call's. Returns when it leaves if nobody else is there or
  // comes; nothing where somebody is, and settle() tells.
  std::optional<Time> enter(Time now, const Use& use);

  // After the last entry at a time: foresees when everyone leaves.
  void settle();

  // Whoever is still there, after settle(), in the order in which they leave.
  const std::vector<User>& users() const { return users_; }

 private:
  void drain(long double duration);
  void seat(const Use& use);

  // Most are alone when they come and gone before the next one does: there is nothing to divide.
  Time free_since_;          // what the clock counts from
  std::optional<Use> only_;  // came then, and nobody since; else
  std::vector<User> users_;
  long double clock_ = 0;  // of the last entry
};

}  // namespace moesim
