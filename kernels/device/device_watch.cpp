#include "kernels/device/device_watch.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace moesim {

DeviceWatch::DeviceWatch(const HostScript& script, std::vector<int> ranks, Time patience)
    : script_(script),
      ranks_(std::move(ranks)),
      patience_(patience),
      watched_(script.ranks.size()) {
  for (const int rank : ranks_) {
    RankWatch& watch = watched_[rank];
    for (const ScriptTask& task : script.ranks[rank].tasks) {
      watch.tasks.push_back(task.passes_by ? TaskProgress::kEnded : TaskProgress::kWaiting);
      watch.num_left += task.passes_by ? 0 : 1;
    }
  }
}

void DeviceWatch::see(int rank, int position, TaskProgress progress) {
  RankWatch& watch = watched_[rank];
  TaskProgress& known = watch.tasks.at(position);
  CHECK(progress >= known, "task {} of rank {} goes back", position, rank);
  if (progress == known) {
    return;
  }
  if (script_.ranks[rank].tasks[position].meeting == kNone) {
    watch.num_working -= known == TaskProgress::kBegun ? 1 : 0;
    watch.num_working += progress == TaskProgress::kBegun ? 1 : 0;
  }
  watch.num_left -= progress == TaskProgress::kEnded ? 1 : 0;
  known = progress;
  has_changed_ = true;
}

void DeviceWatch::set_host_waits(int rank, bool waits) {
  has_changed_ = has_changed_ || watched_[rank].host_waits != waits;
  watched_[rank].host_waits = waits;
}

bool DeviceWatch::is_over() const {
  return std::ranges::all_of(ranks_, [&](int rank) { return watched_[rank].num_left == 0; });
}

bool DeviceWatch::can_go_on_alone() const {
  return std::ranges::any_of(ranks_, [&](int rank) {
    return !watched_[rank].host_waits || watched_[rank].num_working > 0;
  });
}

std::optional<Standstill> DeviceWatch::look(Time now) {
  if (is_over()) {
    return standstill(now, Time::max());
  }
  if (std::exchange(has_changed_, false)) {
    since_ = now;
  }
  if (can_go_on_alone() || now - since_ < patience_) {
    return std::nullopt;
  }
  return standstill(since_, now);
}

Standstill DeviceWatch::standstill(Time from, Time to) const {
  Standstill result{from, to, {}, {}};
  for (const Meeting& meeting : script_.meetings) {
    result.arrived.emplace_back(meeting.tasks.size());
  }
  result.left = result.arrived;
  for (const int rank : ranks_) {
    const std::vector<ScriptTask>& tasks = script_.ranks[rank].tasks;
    for (size_t position = 0; position < tasks.size(); ++position) {
      if (tasks[position].meeting != kNone) {
        const TaskProgress progress = watched_[rank].tasks[position];
        result.arrived[tasks[position].meeting][tasks[position].member] =
            progress != TaskProgress::kWaiting;
        result.left[tasks[position].meeting][tasks[position].member] =
            progress == TaskProgress::kEnded;
      }
    }
  }
  return result;
}

}  // namespace moesim
