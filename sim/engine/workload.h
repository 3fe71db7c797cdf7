#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/collective/collective_cost.h"
#include "sim/engine/classes.h"
#include "sim/engine/script.h"
#include "sim/engine/task_cost.h"

namespace moesim {

// What a rank does with a task: occupy its stream for a while, join a collective, pass by one of
// others or of itself alone (nothing is launched; it keeps its place in the stream), or have the
// host wait.
enum class Action : std::uint8_t { kWork, kJoin, kSkip, kHostWait };

// One task on one simulated rank.
struct Slot {
  Time duration;           // kWork
  int rank = 0;            // index into Classes::ranks
  int collective = kNone;  // kJoin: index into Workload::collectives
  Action action = Action::kWork;
};

// One simulated rank's part in a collective.
struct Participant {
  int slot = kNone;
  CollectiveLoad load;
};

// What instances of a collective's class put on one link, each of `count` alike: together they
// share it as one of so many times their load and weight.
struct LinkUse {
  int link = 0;  // index into Classes::media
  Time load;
  double weight = 1;
  int count = 1;

  Time total() const { return load.scaled(count); }
};

// A collective of one class of group instances, or a later phase of one: participants and uses of
// links [first, next collective's first). One that lacks some of `num_awaited` never begins; a
// later phase awaits nobody, but the phase before it.
struct JointCollective {
  int first_participant = 0;
  int first_link_use = 0;
  int num_awaited = 0;
  Time startup{};    // the longest of any participant
  Time alone{};      // what its transfer takes after it while nobody else uses ports and links
  int next = kNone;  // the phase that begins when this one ends
  int phase = 0;
};

// A Program as the machine runs it: a rank per class, its tasks as slots in launch order, the
// collectives that join them, all with their costs.
struct Workload {
  Scripts scripts;
  Classes classes;
  std::vector<int> first_slot;  // by simulated rank, and one past the last
  std::vector<Slot> slots;
  std::vector<JointCollective>
      collectives;                        // later phases behind all others; and one past the last
  std::vector<Participant> participants;  // by collective, then rank
  std::vector<LinkUse> link_uses;         // by collective, then link

  int num_ranks() const { return static_cast<int>(classes.ranks.size()); }
  int num_collectives() const { return static_cast<int>(collectives.size()) - 1; }
  const Script& script(int rank) const {
    return scripts.scripts[scripts.of_rank[classes.ranks[rank].representative]];
  }
};

Workload make_workload(Scripts scripts,
                       Classes classes,
                       const LinkPatterns& links,
                       TaskCosts& costs);

}  // namespace moesim
