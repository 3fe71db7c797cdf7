#include "sim/program/happens_before.h"

#include "sim/base/check.h"

namespace moesim {

void HappensBefore::begin(int task, int stream) {
  CHECK(task >= static_cast<int>(tasks_.size()), "tasks come in launch order");
  begun_ = task;
  tasks_.resize(task + 1);
  Entry& entry = tasks_[task];
  entry.runs = true;
  entry.stream = stream;
  if (stream >= static_cast<int>(last_.size())) {
    last_.resize(stream + 1);
  }
  clock_ = stream == kNone ? host_ : clocks_.merged(host_, last_[stream]);
}

void HappensBefore::wait_for(int earlier) {
  if (runs(earlier)) {
    clock_ = clocks_.merged(clock_, tasks_[earlier].end);
  }
}

void HappensBefore::finish() {
  Entry& entry = tasks_[begun_];
  entry.start = clock_;
  if (entry.stream == kNone) {
    host_ = entry.end = clock_;
  } else {
    last_[entry.stream] = entry.end = clocks_.with(clock_, entry.stream, begun_);
  }
}

}  // namespace moesim
