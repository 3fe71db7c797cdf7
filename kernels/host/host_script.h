#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/group_table.h"

namespace moesim {

// A task of one rank's script. Positions count the tasks that the rank runs, in launch order.
struct ScriptTask {
  int task = 0;
  int lane = kNone;        // the rank's stream, numbered by first use; kNone: the host waits
  int queue = kNone;       // hardware queue
  int place_in_queue = 0;  // how many tasks of the queue start before it
  int meeting = kNone;     // of a collective of the rank
  int member = kNone;      // the rank's index in it
  bool passes_by = false;  // a collective of other ranks or of this one alone: nothing is launched
  std::vector<int> waits;  // positions
};

struct RankScript {
  std::vector<ScriptTask> tasks;
  std::vector<std::vector<int>> lanes;  // positions on each stream
  int num_queues = 0;
};

// One collective: the k-th of its communicator on every member of a group instance.
struct Meeting {
  int group = 0;
  int instance = 0;
  std::vector<int> tasks;  // by member: its own task, kNone where its script has none
};

// What every rank does, and where ranks meet.
struct HostScript {
  std::vector<RankScript> ranks;
  std::vector<Meeting> meetings;

  const std::vector<int>& members(const Program& program, int meeting) const {
    const Meeting& one = meetings[meeting];
    return program.groups[one.group].members[one.instance];
  }
};

HostScript make_host_script(const Program& program, const GroupTable& groups, int hardware_queues);

// The same where queues do not matter: of those that only find out who meets whom.
HostScript make_host_script(const Program& program);

}  // namespace moesim
