#pragma once

#include <compare>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

enum class EventKind : std::uint8_t {
  kStart,     // a task that was ready before its launch
  kEnd,       // of a task that is no collective
  kTransfer,  // a collective's start-up is over
  kCollectiveEnd
};

// What is to happen at a time: to a slot or a collective of the Workload. Equal times are ordered
// by task, then by rank (slots and collectives are numbered by rank).
struct Event {
  Time time;
  int task = 0;
  int index = 0;
  EventKind kind = EventKind::kStart;

  friend auto operator<=>(const Event&, const Event&) = default;
};

// The events to come, earliest first.
using EventQueue = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

}  // namespace moesim
