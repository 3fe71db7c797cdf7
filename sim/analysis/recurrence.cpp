#include "sim/analysis/recurrence.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool rank_runs(const Program& program, const Task& task, int rank) {
  return task.roles.empty() || std::any_of(task.roles.begin(), task.roles.end(), [&](int role) {
           return contains(program.roles[role].ranks, rank);
         });
}

// The rank's instance of a group, or kNone where it has nobody to meet.
int instance_of(const Group& group, int rank) {
  for (int i = 0; i < static_cast<int>(group.members.size()); ++i) {
    if (group.members[i].size() > 1 && contains(group.members[i], rank)) {
      return i;
    }
  }
  return kNone;
}

// The tasks of different ranks that are one collective: (group, stream, instance, number).
using Meeting = std::tuple<int, int, int, int>;

// The unknowns of one rank, in launch order.
struct RankSpans {
  std::vector<TaskSpan> spans;
  std::vector<Meeting> meetings;  // by span; instance kNone where there is none to wait for
};

RankSpans list_tasks(const Program& program, int rank) {
  RankSpans list;
  std::map<std::pair<int, int>, int> num_collectives;  // by (group, stream)
  for (int i = 0; i < static_cast<int>(program.tasks.size()); ++i) {
    const Task& task = program.tasks[i];
    if (!rank_runs(program, task, rank)) {
      continue;
    }
    TaskSpan span;
    span.rank = rank;
    span.task = i;
    list.spans.push_back(span);
    Meeting meeting(kNone, kNone, kNone, kNone);
    if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
      const int number = num_collectives[{collective->group, task.stream}]++;
      const int instance = instance_of(program.groups[collective->group], rank);
      meeting = Meeting(collective->group, task.stream, instance, number);
    }
    list.meetings.push_back(meeting);
  }
  return list;
}

// Applies one rank's equations, from its first task to its last.
class RankEquations {
 public:
  RankEquations(const Program& program, const RecurrenceOptions& options, int rank)
      : program_(program), options_(options), rank_(rank) {}

  // `last_arrivals` holds the largest start so far of each collective.
  void apply(RankSpans& list, const std::map<Meeting, Time>& last_arrivals) {
    for (std::size_t i = 0; i < list.spans.size(); ++i) {
      TaskSpan& span = list.spans[i];
      const Task& task = program_.tasks[span.task];
      if (std::holds_alternative<HostWait>(task.descriptor)) {
        apply_host_wait(task, span);
      } else {
        apply_task(task, span, list.meetings[i], last_arrivals);
      }
      ended_[span.task] = span.end;
    }
  }

 private:
  void apply_host_wait(const Task& task, TaskSpan& span) {
    span.launched = span.start = span.transfer = host_;
    span.end = host_ = std::max(host_, waits_over(task));
  }

  void apply_task(const Task& task,
                  TaskSpan& span,
                  const Meeting& meeting,
                  const std::map<Meeting, Time>& last_arrivals) {
    const bool is_collective = std::holds_alternative<Collective>(task.descriptor);
    const bool has_part = !is_collective || std::get<2>(meeting) != kNone;
    host_ += has_part ? options_.launch_overhead : Time::zero();
    const auto first_use = queue_.emplace(task.stream, num_streams_);
    num_streams_ += first_use.second ? 1 : 0;
    Time& queue_start = queue_start_[first_use.first->second % options_.hardware_queues];
    Time& stream_end = stream_end_[task.stream];
    span.launched = host_;
    span.start = std::max({host_, stream_end, waits_over(task), queue_start});
    span.transfer =
        is_collective && has_part ? std::max(span.start, last_arrivals.at(meeting)) : span.start;
    span.end = span.transfer + duration(task);
    queue_start = span.start;
    stream_end = span.end;
  }

  Time waits_over(const Task& task) const {
    Time latest;
    for (const auto* waits : {&task.waits, &task.order_only}) {
      for (const int earlier : *waits) {
        const auto found = ended_.find(earlier);
        latest = found != ended_.end() ? std::max(latest, found->second) : latest;
      }
    }
    return latest;
  }

  Time duration(const Task& task) const {
    if (std::holds_alternative<Collective>(task.descriptor)) {
      return Time::zero();
    }
    const auto* fixed = std::get_if<Fixed>(&task.descriptor);
    CHECK(fixed != nullptr, "task '{}' is not fixed", task.name);
    return program_.rank_scale.empty() ? fixed->time
                                       : fixed->time.scaled(program_.rank_scale[rank_]);
  }

  const Program& program_;
  RecurrenceOptions options_;
  int rank_;
  Time host_;
  int num_streams_ = 0;
  std::map<int, int> queue_;  // by stream: its number in order of first use
  std::map<int, Time> queue_start_;
  std::map<int, Time> stream_end_;
  std::map<int, Time> ended_;  // by task
};

std::map<Meeting, Time> find_last_arrivals(const std::vector<RankSpans>& ranks) {
  std::map<Meeting, Time> last;
  for (const RankSpans& list : ranks) {
    for (std::size_t i = 0; i < list.spans.size(); ++i) {
      Time& arrival = last[list.meetings[i]];
      arrival = std::max(arrival, list.spans[i].start);
    }
  }
  return last;
}

std::vector<TaskSpan> in_order(const std::vector<RankSpans>& ranks) {
  std::vector<TaskSpan> spans;
  for (const RankSpans& list : ranks) {
    spans.insert(spans.end(), list.spans.begin(), list.spans.end());
  }
  std::sort(spans.begin(), spans.end(), [](const TaskSpan& a, const TaskSpan& b) {
    return std::tie(a.start, a.task, a.rank) < std::tie(b.start, b.task, b.rank);
  });
  return spans;
}

}  // namespace

// Starts from zero and applies all equations until nothing moves. Every right side grows with the
// unknowns, so this is the least solution. Each round settles at least one more collective.
std::vector<TaskSpan> solve_recurrence(const Program& program, const RecurrenceOptions& options) {
  std::vector<RankSpans> ranks;
  ranks.reserve(program.num_ranks);
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    ranks.push_back(list_tasks(program, rank));
  }
  std::map<Meeting, Time> last_arrivals = find_last_arrivals(ranks);
  for (std::size_t round = 0; round < program.tasks.size() * program.num_ranks + 2; ++round) {
    for (int rank = 0; rank < program.num_ranks; ++rank) {
      RankEquations(program, options, rank).apply(ranks[rank], last_arrivals);
    }
    const std::map<Meeting, Time> before = std::exchange(last_arrivals, find_last_arrivals(ranks));
    if (last_arrivals == before) {
      return in_order(ranks);
    }
  }
  CHECK(false, "program '{}' has no solution: its collectives deadlock", program.name);
  return {};
}

}  // namespace moesim
