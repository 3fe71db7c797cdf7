#include "kernels/host/host_script.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/base/check.h"
#include "sim/io/profile.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

// Group, stream, instance, number.
using MeetingKey = std::tuple<int, int, int, int>;

class ScriptMaker {
 public:
  ScriptMaker(const Program& program, const GroupTable& groups, int hardware_queues)
      : program_(program), groups_(groups), hardware_queues_(hardware_queues), roles_(program) {}

  HostScript make() && {
    for (rank_ = 0; rank_ < program_.num_ranks; ++rank_) {
      begin_rank();
      for (size_t task = 0; task < program_.tasks.size(); ++task) {
        const std::vector<int>& running = roles_.running(program_.tasks[task]);
        const int role = roles_.role_of(rank_);
        if (std::find(running.begin(), running.end(), role) != running.end()) {
          append(static_cast<int>(task));
        }
      }
      script_.ranks.push_back(std::move(rank_script_));
    }
    return std::move(script_);
  }

 private:
  void begin_rank() {
    rank_script_ = {};
    lane_of_stream_.assign(program_.streams.size(), kNone);
    num_in_queue_.assign(hardware_queues_, 0);
    position_.assign(program_.tasks.size(), kNone);
    num_issued_.clear();
  }

  void append(int index) {
    const Task& task = program_.tasks[index];
    ScriptTask entry;
    entry.task = index;
    for (const auto* waits : {&task.waits, &task.order_only}) {
      for (const int wait : *waits) {
        if (position_[wait] != kNone) {  // else another role's: nothing to wait for here
          entry.waits.push_back(position_[wait]);
        }
      }
    }
    position_[index] = static_cast<int>(rank_script_.tasks.size());
    if (task.stream != kNone) {
      queue_up(task.stream, entry);
    }
    if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
      join(*collective, task.stream, entry);
    }
    rank_script_.tasks.push_back(std::move(entry));
  }

  void queue_up(int stream, ScriptTask& entry) {
    int& lane = lane_of_stream_[stream];
    if (lane == kNone) {
      lane = static_cast<int>(rank_script_.lanes.size());
      rank_script_.lanes.emplace_back();
      rank_script_.num_queues = std::min(lane + 1, hardware_queues_);
    }
    entry.lane = lane;
    entry.queue = lane % hardware_queues_;
    entry.place_in_queue = num_in_queue_[entry.queue]++;
    rank_script_.lanes[lane].push_back(position_[entry.task]);
  }

  void join(const Collective& collective, int stream, ScriptTask& entry) {
    const int instance = groups_.instance(collective.group, rank_);
    const int number = num_issued_[{collective.group, stream}]++;
    entry.passes_by = true;
    if (instance == kNone) {
      return;
    }
    const size_t size = program_.groups[collective.group].members[instance].size();
    const MeetingKey key(collective.group, stream, instance, number);
    const auto [found, is_new] = meetings_.emplace(key, static_cast<int>(script_.meetings.size()));
    if (is_new) {
      script_.meetings.push_back({collective.group, instance, std::vector<int>(size, kNone)});
    }
    entry.passes_by = size == 1;
    entry.meeting = found->second;
    entry.member = groups_.index(collective.group, rank_);
    script_.meetings[entry.meeting].tasks[entry.member] = entry.task;
  }

  const Program& program_;
  const GroupTable& groups_;
  int hardware_queues_;
  RoleTable roles_;
  HostScript script_;
  std::map<MeetingKey, int> meetings_;
  int rank_ = 0;
  // Of the rank at hand.
  RankScript rank_script_;
  std::vector<int> lane_of_stream_;
  std::vector<int> num_in_queue_;
  std::vector<int> position_;                      // by task
  std::map<std::pair<int, int>, int> num_issued_;  // by group and stream
};

}  // namespace

HostScript make_host_script(const Program& program, const GroupTable& groups, int hardware_queues) {
  CHECK(hardware_queues >= 1, "{} hardware queues", hardware_queues);
  return ScriptMaker(program, groups, hardware_queues).make();
}

HostScript make_host_script(const Program& program) {
  GroupTable groups;
  groups.update(program);
  return make_host_script(program, groups, kDefaultHardwareQueues);
}

}  // namespace moesim
