#include "sim/program/happens_before.h"

#include <algorithm>

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
    last_.resize(stream + 1, kNone);
  }
  clock_.assign(last_.size(), kNone);
  merge(host_.data(), static_cast<int>(host_.size()));
  if (stream != kNone && last_[stream] != kNone) {
    entry.predecessor = last_[stream];
    merge(entry.predecessor);
  }
}

void HappensBefore::wait_for(int earlier) {
  if (runs(earlier)) {
    merge(earlier);
  }
}

void HappensBefore::finish() {
  Entry& entry = tasks_[begun_];
  if (entry.stream == kNone) {
    host_ = clock_;
  } else {
    clock_[entry.stream] = begun_;
    last_[entry.stream] = begun_;
  }
  entry.clock = static_cast<std::int64_t>(clocks_.size());
  entry.width = width();
  clocks_.insert(clocks_.end(), clock_.begin(), clock_.end());
}

int HappensBefore::last_before(int task, int stream) const {
  const Entry& entry = tasks_[task];
  if (stream == entry.stream) {
    return entry.predecessor;
  }
  return stream < entry.width ? clocks_[entry.clock + stream] : kNone;
}

void HappensBefore::merge(int task) {
  const Entry& entry = tasks_[task];
  merge(clocks_.data() + entry.clock, entry.width);
}

void HappensBefore::merge(const int* clock, int width) {
  for (int stream = 0; stream < width; ++stream) {
    clock_[stream] = std::max(clock_[stream], clock[stream]);
  }
}

}  // namespace moesim
