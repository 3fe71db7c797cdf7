#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/stream_clocks.h"

namespace moesim {

// Which tasks of one role are over before which others start, by a vector clock per task: for each
// stream the last task that is over. What other ranks do never counts: order must follow from the
// role's own streams, waits and host waits.
//
// Tasks are taken in launch order: begin(task), any number of wait_for(earlier), finish().
class HappensBefore {
 public:
  // The role's next task; `stream` is kNone for a host wait.
  void begin(int task, int stream);
  // Makes the begun task wait for an earlier one. Tasks of other roles are passed over.
  void wait_for(int earlier);
  // Whether the begun task starts after `earlier`, a task of this role, is over.
  bool follows(int earlier) const {
    const int stream = tasks_[earlier].stream;
    return stream == kNone || clocks_.at(clock_, stream) >= earlier;
  }
  void finish();

  // The same of two finished tasks of this role.
  bool is_over_before(int earlier, int task) const {
    const int stream = tasks_[earlier].stream;
    return earlier < task && (stream == kNone || clocks_.at(tasks_[task].start, stream) >= earlier);
  }

  // Whether the role runs the task.
  bool runs(int task) const { return task < static_cast<int>(tasks_.size()) && tasks_[task].runs; }
  // A task that must be over before `task` starts, but not before `other` does; or kNone.
  int waits_beyond(int task, int other) {
    return clocks_.first_ahead(tasks_[task].start, tasks_[other].start);
  }

 private:
  struct Entry {
    StreamClock start;  // before it
    StreamClock end;    // the task itself included
    int stream = kNone;
    bool runs = false;
  };

  StreamClocks clocks_;
  std::vector<Entry> tasks_;       // by task
  std::vector<StreamClock> last_;  // by stream: at the end of its last task
  StreamClock clock_;              // of the begun task
  StreamClock host_;               // over before the host launches anything further
  int begun_ = kNone;
};

}  // namespace moesim
