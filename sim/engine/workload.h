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
  int load = kNone;  // index into Workload::loads
};

// What instances of a class put on one link, each of `count` alike: together they share it as one
// of so many times their load and weight. Collectives that put the same there, or in proportion,
// have the same uses: a thousand unequal ranks load millions of links in every layer.
struct LinkUse {
  int link = 0;  // index into Classes::media
  int count = 1;
  double seconds = 0;  // of exclusive use, for a `link_scale` of 1
};

// A collective of one class of group instances, or a later phase of one: participants [first, next
// collective's first), and uses of links [first, end). One that lacks some of `num_awaited` never
// begins; a later phase awaits nobody, but the phase before it.
struct JointCollective {
  int first_participant = 0;
  int first_link_use = 0;
  int end_link_use = 0;
  int num_awaited = 0;
  double link_scale = 1;  // what the uses' seconds are multiplied with
  double weight = 1;      // of one instance, on links
  Time startup{};         // the longest of any participant
  Time alone{};           // what its transfer takes after it while nobody else uses ports and links
  int next = kNone;       // the phase that begins when this one ends
  int phase = 0;

  // Of one instance, and of all together; zero where it rounds to nothing.
  Time load(const LinkUse& use) const { return Time::from_seconds(use.seconds * link_scale); }
  Time total_load(const LinkUse& use) const { return load(use).scaled(use.count); }
};

// A Program as the machine runs it: a rank per class, its tasks as slots in launch order, the
// collectives that join them, all with their costs.
struct Workload {
  Scripts scripts;
  Classes classes;
  std::vector<int> first_slot;  // by simulated rank, and one past the last
  std::vector<Slot> slots;
  // Later phases behind all others; and one past the last.
  std::vector<JointCollective> collectives;
  std::vector<Participant> participants;  // by collective, then rank
  std::vector<CollectiveLoad> loads;      // each once for all layers of a rank
  std::vector<LinkUse> link_uses;         // by pattern and class of instances, then link

  const CollectiveLoad& load(const Participant& participant) const {
    return loads[participant.load];
  }
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
