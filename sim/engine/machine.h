#pragma once

#include <array>
#include <vector>

#include "sim/base/time.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/transfers.h"
#include "sim/engine/workload.h"
#include "sim/io/trace.h"

namespace moesim {

// The simulated GPUs: per rank a host that launches, streams and hardware queues that order; what
// collectives move is left to Transfers. Its time is whole picoseconds from the iteration's start.
// It only knows what comes next; a clock tells it when to go on:
//   while (!machine.idle()) { machine.advance(); }
// Throws Error when it comes to take more than 90 days: times could overflow.
class Machine {
 public:
  // Everything that happens at time zero without an event has happened after the construction.
  Machine(const Workload& workload, Time launch_overhead, Transfers& transfers);

  bool idle() const { return events_.empty() && !transfers_.next(); }
  Time next_event() const;

  // Moves on to the next event's time and lets happen all that happens then.
  void advance();

  // What happened, by slot. Idle with slots unfinished is a deadlock.
  bool finished() const { return num_unfinished_ == 0; }
  bool has_started(int slot) const { return states_[slot].phase != Phase::kWaiting; }
  Time now() const { return now_; }
  const std::array<Time, kNumPasses>& pass_end() const { return pass_end_; }

  // All spans, ordered by start, task, rank.
  std::vector<TaskSpan> spans() const;

 private:
  enum class Phase : std::uint8_t { kWaiting, kRunning, kEnded };

  struct SlotState {
    Time launched;
    Time start;
    Time transfer;
    Time end;
    int num_conditions = 0;  // still unmet
    Phase phase = Phase::kWaiting;
  };
  struct HostState {
    Time time;
    int next_slot = 0;
  };
  void handle(const Event& event);
  void launch_on(int rank);
  void meet_condition(int slot);
  void start(int slot);
  void end(int slot);
  void join(int collective);
  void begin(int collective);
  void end_collective(int collective);
  int first_slot(int collective) const;
  void schedule(Time time, EventKind kind, int index, int slot);
  int position(int slot) const;
  int task(int slot) const;

  const Workload& workload_;
  Time launch_overhead_;
  Transfers& transfers_;
  Time now_;
  EventQueue events_;
  std::vector<SlotState> states_;
  std::vector<HostState> hosts_;
  std::vector<int> num_missing_;  // by collective: participants that have not started it
  std::vector<int> start_order_;  // slots, times ascending
  std::array<Time, kNumPasses> pass_end_{};
  int num_unfinished_ = 0;
};

}  // namespace moesim
