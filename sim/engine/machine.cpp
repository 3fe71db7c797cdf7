#include "sim/engine/machine.h"

#include <algorithm>
#include <tuple>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// Time holds 106 days. What is added to a date up to this one still fits: no task takes more than
// ten days (checked_time), and no launch more than an hour.
constexpr Time kLatest = Time::from_picoseconds(90LL * 86'400 * 1'000'000'000'000);

}  // namespace

Machine::Machine(const Workload& workload, Time launch_overhead, Transfers& transfers)
    : workload_(workload),
      launch_overhead_(launch_overhead),
      transfers_(transfers),
      states_(workload.slots.size()),
      hosts_(workload.num_ranks()),
      num_missing_(workload.num_collectives()),
      num_unfinished_(static_cast<int>(workload.slots.size())) {
  start_order_.reserve(workload.slots.size());
  for (int collective = 0; collective < workload.num_collectives(); ++collective) {
    num_missing_[collective] = workload.collectives[collective].num_awaited;
  }
  for (int rank = 0; rank < workload.num_ranks(); ++rank) {
    hosts_[rank].next_slot = workload.first_slot[rank];
    const Script& script = workload.script(rank);
    for (int i = 0; i < script.size(); ++i) {
      states_[workload.first_slot[rank] + i].num_conditions = script.num_conditions[i];
    }
  }
  for (int rank = 0; rank < workload.num_ranks(); ++rank) {
    launch_on(rank);
  }
}

Time Machine::next_event() const {
  const std::optional<Time> transfer = transfers_.next();
  if (events_.empty() || !transfer) {
    return events_.empty() ? *transfer : events_.top().time;
  }
  return std::min(events_.top().time, *transfer);
}

// A transfer that takes no time begins and ends at one moment: once more around.
void Machine::advance() {
  now_ = next_event();
  do {
    for (const int collective : transfers_.take_ended(now_)) {
      schedule(now_, EventKind::kCollectiveEnd, collective, first_slot(collective));
    }
    while (!events_.empty() && events_.top().time == now_) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
  } while (transfers_.next() == now_);
}

void Machine::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kStart:
      start(event.index);
      break;
    case EventKind::kEnd:
      end(event.index);
      break;
    case EventKind::kTransfer:
      transfers_.begin(now_, event.index);
      break;
    case EventKind::kCollectiveEnd:
      end_collective(event.index);
      break;
  }
}

// The host runs ahead of the GPU: the launch times up to its next wait follow at once. Passing by a
// collective costs it nothing; a wait "launches" when the host gets there.
void Machine::launch_on(int rank) {
  HostState& host = hosts_[rank];
  while (host.next_slot < workload_.first_slot[rank + 1]) {
    const int slot = host.next_slot++;
    const Action action = workload_.slots[slot].action;
    if (action == Action::kWork || action == Action::kJoin) {
      host.time += launch_overhead_;
      if (host.time > kLatest) {
        throw Error(
            "the last tasks are launched after more than 90 days of launches and of work that host "
            "waits wait for; lower launch_overhead, or check sizes, rates and fixed times");
      }
    }
    states_[slot].launched = host.time;
    meet_condition(slot);
    if (action == Action::kHostWait) {
      return;
    }
  }
}

void Machine::meet_condition(int slot) {
  SlotState& state = states_[slot];
  CHECK(state.num_conditions > 0);
  if (--state.num_conditions > 0) {
    return;
  }
  if (state.launched > now_) {
    schedule(state.launched, EventKind::kStart, slot, slot);
  } else {
    start(slot);
  }
}

// Even what takes no time ends by an event: the call depth stays that of one queue's simultaneous
// starts, one per stream.
void Machine::start(int slot) {
  SlotState& state = states_[slot];
  const Slot& step = workload_.slots[slot];
  state.phase = Phase::kRunning;
  state.start = now_;
  start_order_.push_back(slot);
  if (step.action == Action::kJoin) {
    join(step.collective);
  } else {
    state.transfer = now_;
    schedule(now_ + step.duration, EventKind::kEnd, slot, slot);
  }
  const int successor = workload_.script(step.rank).queue_successor[position(slot)];
  if (successor != kNone) {
    meet_condition(workload_.first_slot[step.rank] + successor);
  }
}

void Machine::end(int slot) {
  SlotState& state = states_[slot];
  const Slot& step = workload_.slots[slot];
  const Script& script = workload_.script(step.rank);
  const int here = position(slot);
  state.phase = Phase::kEnded;
  state.end = now_;
  --num_unfinished_;
  Time& pass_end = pass_end_[static_cast<int>(script.passes[here])];
  pass_end = std::max(pass_end, now_);
  const int first_slot = workload_.first_slot[step.rank];
  for (int i = script.first_dependent[here]; i < script.first_dependent[here + 1]; ++i) {
    meet_condition(first_slot + script.dependents[i]);
  }
  if (step.action == Action::kHostWait) {
    state.start = state.transfer = state.launched;
    hosts_[step.rank].time = now_;
    launch_on(step.rank);
  }
}

// The last member to start lets the collective begin.
void Machine::join(int collective) {
  if (--num_missing_[collective] > 0) {
    return;
  }
  const JointCollective& joint = workload_.collectives[collective];
  const int end = workload_.collectives[collective + 1].first_participant;
  for (int i = joint.first_participant; i < end; ++i) {
    states_[workload_.participants[i].slot].transfer = now_;
  }
  begin(collective);
}

// First comes its start-up, off the ports.
void Machine::begin(int collective) {
  const Time startup = workload_.collectives[collective].startup;
  schedule(now_ + startup, EventKind::kTransfer, collective, first_slot(collective));
}

// What follows it is its next phase, or what waits for the whole.
void Machine::end_collective(int collective) {
  const JointCollective& joint = workload_.collectives[collective];
  if (joint.next != kNone) {
    begin(joint.next);
    return;
  }
  const int end_participant = workload_.collectives[collective + 1].first_participant;
  for (int i = joint.first_participant; i < end_participant; ++i) {
    end(workload_.participants[i].slot);
  }
}

int Machine::first_slot(int collective) const {
  return workload_.participants[workload_.collectives[collective].first_participant].slot;
}

void Machine::schedule(Time time, EventKind kind, int index, int slot) {
  if (time > kLatest) {
    throw Error(
        "the iteration takes more than 90 days; check sizes, rates, start-up and fixed times");
  }
  events_.push({.time = time, .task = task(slot), .index = index, .kind = kind});
}

int Machine::position(int slot) const {
  return slot - workload_.first_slot[workload_.slots[slot].rank];
}

int Machine::task(int slot) const {
  return workload_.script(workload_.slots[slot].rank).tasks[position(slot)];
}

std::vector<TaskSpan> Machine::spans() const {
  std::vector<TaskSpan> spans;
  spans.reserve(start_order_.size());
  for (const int slot : start_order_) {
    const SlotState& state = states_[slot];
    const int rank = workload_.classes.ranks[workload_.slots[slot].rank].representative;
    spans.push_back({.rank = rank,
                     .task = task(slot),
                     .launched = state.launched,
                     .start = state.start,
                     .transfer = state.transfer,
                     .end = state.end});
  }
  const auto order = [](const TaskSpan& a, const TaskSpan& b) {
    return std::tie(a.start, a.task, a.rank) < std::tie(b.start, b.task, b.rank);
  };
  if (!std::is_sorted(spans.begin(), spans.end(), order)) {
    std::sort(spans.begin(), spans.end(), order);
  }
  return spans;
}

}  // namespace moesim
