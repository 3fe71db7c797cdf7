#include "kernels/device/issue_order.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/hang.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// Kahn's algorithm, "Topological sorting of large networks", CACM 5(11), 1962, with a queue by
// priority; the members of a collective are one node.
class Orderer {
 public:
  Orderer(const Program& program, const HostScript& script)
      : program_(program), script_(script), meetings_(script.meetings.size()) {
    for (const RankScript& rank : script.ranks) {
      ranks_.emplace_back(rank.tasks.size());
    }
    expect_members();
  }

  std::vector<Issue> order() && {
    count_prerequisites();
    while (!ready_.empty()) {
      const Candidate next = ready_.top();
      ready_.pop();
      issue(next);
    }
    check_complete();
    return std::move(issues_);
  }

 private:
  struct Node {
    int num_missing = 0;  // of what must be issued before
    std::vector<int> followers;
  };

  // Members that have come.
  struct MeetingState {
    int64_t num_missing = 0;
    std::vector<bool> is_expected;    // by member
    std::vector<ScriptPlace> places;  // by member; rank kNone: has not come

    std::vector<ScriptPlace> places_here() const {
      std::vector<ScriptPlace> here;
      std::copy_if(places.begin(), places.end(), std::back_inserter(here), [](const auto& place) {
        return place.rank != kNone;
      });
      return here;
    }
  };

  // Compares as the order in which candidates are issued.
  struct Candidate {
    bool is_host_wait = false;
    int position = 0;
    int rank = 0;
    int meeting = kNone;

    friend bool operator>(const Candidate& left, const Candidate& right) {
      return std::tie(left.is_host_wait, left.position, left.rank) >
             std::tie(right.is_host_wait, right.position, right.rank);
    }
  };

  // Those whose tasks are in the script, and those that have none and never come.
  void expect_members() {
    for (size_t i = 0; i < meetings_.size(); ++i) {
      for (const int task : script_.meetings[i].tasks) {
        meetings_[i].is_expected.push_back(task == kNone);
      }
      meetings_[i].places.assign(script_.meetings[i].tasks.size(), {kNone, kNone});
    }
    for (const RankScript& rank : script_.ranks) {
      for (const ScriptTask& task : rank.tasks) {
        if (task.meeting != kNone) {
          meetings_[task.meeting].is_expected[task.member] = true;
        }
      }
    }
    for (MeetingState& meeting : meetings_) {
      meeting.num_missing =
          std::count(meeting.is_expected.begin(), meeting.is_expected.end(), true);
    }
  }

  const ScriptTask& entry(int rank, int position) const {
    return script_.ranks[rank].tasks[position];
  }

  void require(int rank, int earlier, int position) {
    ranks_[rank][earlier].followers.push_back(position);
    ++ranks_[rank][position].num_missing;
  }

  void count_prerequisites() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      const RankScript& script = script_.ranks[rank];
      int host_wait = kNone;
      for (int position = 0; position < static_cast<int>(script.tasks.size()); ++position) {
        for (const int wait : script.tasks[position].waits) {
          require(rank, wait, position);
        }
        if (host_wait != kNone) {
          require(rank, host_wait, position);
        }
        host_wait = script.tasks[position].lane == kNone ? position : host_wait;
      }
      for (const std::vector<int>& lane : script.lanes) {
        for (size_t i = 1; i < lane.size(); ++i) {
          require(rank, lane[i - 1], lane[i]);
        }
      }
      for (int position = 0; position < static_cast<int>(script.tasks.size()); ++position) {
        if (ranks_[rank][position].num_missing == 0) {
          come(rank, position);
        }
      }
    }
  }

  // The task can be issued as far as its own rank is concerned.
  void come(int rank, int position) {
    const ScriptTask& task = entry(rank, position);
    if (task.meeting == kNone) {
      ready_.push({task.lane == kNone, position, rank, kNone});
      return;
    }
    MeetingState& meeting = meetings_[task.meeting];
    meeting.places[task.member] = {rank, position};
    if (--meeting.num_missing == 0) {
      const std::vector<ScriptPlace> here = meeting.places_here();
      const auto first = std::min_element(
          here.begin(), here.end(), [](const ScriptPlace& left, const ScriptPlace& right) {
            return std::tie(left.position, left.rank) < std::tie(right.position, right.rank);
          });
      ready_.push({false, first->position, first->rank, task.meeting});
    }
  }

  void issue(const Candidate& next) {
    std::vector<ScriptPlace> places = next.meeting == kNone
                                          ? std::vector{ScriptPlace{next.rank, next.position}}
                                          : meetings_[next.meeting].places_here();
    for (const ScriptPlace& place : places) {
      ++num_issued_;
      for (const int follower : ranks_[place.rank][place.position].followers) {
        if (--ranks_[place.rank][follower].num_missing == 0) {
          come(place.rank, follower);
        }
      }
    }
    issues_.push_back({next.meeting, std::move(places)});
  }

  void check_complete() const {
    size_t num_tasks = 0;
    for (const RankScript& rank : script_.ranks) {
      num_tasks += rank.tasks.size();
    }
    if (num_issued_ == num_tasks) {
      return;
    }
    throw Hang(fmt::format(
        "program '{}' hangs: {}; issue the collectives of each group and stream in the same order "
        "on all its ranks",
        program_.name,
        describe_standstill()));
  }

  // What a task waits for stands before it on its rank, so that the first one of a rank that is not
  // issued has come, and it is a collective's.
  std::string describe_standstill() const {
    const auto stands = std::find_if(meetings_.begin(), meetings_.end(), [](const auto& meeting) {
      return meeting.num_missing > 0 && !meeting.places_here().empty();
    });
    CHECK(stands != meetings_.end());
    const auto index = static_cast<size_t>(stands - meetings_.begin());
    const std::vector<int>& members = script_.members(program_, static_cast<int>(index));
    std::vector<int> missing;
    for (size_t member = 0; member < members.size(); ++member) {
      if (stands->is_expected[member] && stands->places[member].rank == kNone) {
        missing.push_back(members[member]);
      }
    }
    const ScriptPlace come = stands->places_here().front();
    const Task& task = program_.tasks[entry(come.rank, come.position).task];
    return fmt::format(
        "rank {} does not come to collective '{}'", fmt::join(missing, ", "), task.name);
  }

  const Program& program_;
  const HostScript& script_;
  std::vector<std::vector<Node>> ranks_;  // by position
  std::vector<MeetingState> meetings_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> ready_;
  std::vector<Issue> issues_;
  size_t num_issued_ = 0;
};

}  // namespace

std::vector<Issue> issue_order(const Program& program, const HostScript& script) {
  return Orderer(program, script).order();
}

}  // namespace moesim
