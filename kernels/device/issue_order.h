#pragma once

#include <vector>

#include "kernels/host/host_script.h"

namespace moesim {

// The position-th task of a rank's script.
struct ScriptPlace {
  int rank = 0;
  int position = 0;

  friend bool operator==(const ScriptPlace&, const ScriptPlace&) = default;
};

// What is issued at once: a task of one rank (a host wait among them), or a collective for all its
// members, in their order.
struct Issue {
  int meeting = kNone;
  std::vector<ScriptPlace> places;
};

// The order in which one thread issues the tasks of all ranks in the script (others have no tasks
// there, and issue their part of a collective themselves), without ever waiting for another
// thread. Each stream's tasks are issued in their order, each task behind what it waits for, what a
// host launches behind the host waits before it, and a collective when every member has come to it
// on its stream. Of what can be issued, the lowest launch position comes first (for a collective
// the lowest of its members), then the lowest rank; host waits, which hold up the hosts of all
// ranks, when nothing else is left.
//
// Throws Hang where tasks are left that can never be issued, which the verifier would have refused.
std::vector<Issue> issue_order(const Program& program, const HostScript& script);

}  // namespace moesim
