#pragma once

#include <cstdint>
#include <vector>

#include "sim/io/program.h"

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
    return stream == kNone || (stream < width() && clock_[stream] >= earlier);
  }
  void finish();

  // Whether the role runs the task.
  bool runs(int task) const { return task < static_cast<int>(tasks_.size()) && tasks_[task].runs; }
  // The last task on the stream that is over before the task starts, or kNone.
  int last_before(int task, int stream) const;

 private:
  struct Entry {
    std::int64_t clock = 0;  // its place in clocks_
    int width = 0;
    int stream = kNone;
    int predecessor = kNone;  // on its stream
    bool runs = false;
  };

  int width() const { return static_cast<int>(clock_.size()); }
  void merge(int task);
  void merge(const int* clock, int width);

  std::vector<Entry> tasks_;  // by task
  std::vector<int> clocks_;   // of all tasks, each includes the task itself
  std::vector<int> clock_;    // of the begun task
  std::vector<int> host_;     // over before the host launches anything further
  std::vector<int> last_;     // by stream
  int begun_ = kNone;
};

}  // namespace moesim
