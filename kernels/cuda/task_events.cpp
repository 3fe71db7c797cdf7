#include "kernels/cuda/task_events.h"

namespace moesim {

EventTable::EventTable(const DeviceScript& script) : begin_(make_event(EventKind::kTimed)) {
  for (const RankScript& rank : script.script.ranks) {
    std::vector<TaskEvents>& events = events_.emplace_back(rank.tasks.size());
    for (size_t position = 0; position < events.size(); ++position) {
      const ScriptTask& entry = rank.tasks[position];
      if (entry.lane != kNone) {
        events[position].start = make_event(EventKind::kTimed);
        events[position].end = make_event(EventKind::kTimed);
      }
      for (const int wait : entry.waits) {
        if (rank.tasks[wait].lane != entry.lane && rank.tasks[wait].lane != kNone &&
            events[wait].done == nullptr) {
          events[wait].done = make_event(EventKind::kUntimed);
        }
      }
    }
  }
}

Time EventTable::time_of(const Event& event) const {
  return elapsed(begin_, event);
}

}  // namespace moesim
