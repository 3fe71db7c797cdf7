#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/io/trace.h"
#include "tests/property/random_engine_program.h"

namespace moesim {

// A random Program of fixed tasks of 0 to 9 ps, host waits and collectives without bytes, on 1 to 4
// ranks with roles, several streams and rank scales. All members of a group reach its
// collectives: they are of all ranks, or, when every rank has a role, one task for each role in a
// row.
class RandomFixedProgram {
 public:
  explicit RandomFixedProgram(Random& random)
      : random_(random),
        num_ranks_(pick(random, 1, 4)),
        num_streams_(pick(random, 1, 4)),
        maker_(num_ranks_) {
    add_roles();
    for (int group = pick(random_, 1, 3); group > 0; --group) {
      maker_.group("g" + std::to_string(group), pick_members(random_, num_ranks_, num_ranks_));
    }
    const int num_tasks = pick(random_, 1, 40);
    while (num_tasks_so_far() < num_tasks) {
      add_task();
    }
    if (random_.uniform() < 0.5) {
      for (int rank = 0; rank < num_ranks_; ++rank) {
        maker_.program().rank_scale.push_back(random_.uniform(0, 2));
      }
    }
  }

  const Program& program() const { return maker_.program(); }

 private:
  int num_tasks_so_far() const { return static_cast<int>(maker_.program().tasks.size()); }
  int num_roles() const { return static_cast<int>(maker_.program().roles.size()); }

  void add_roles() {
    std::vector<std::vector<int>> ranks(pick(random_, 0, 3));
    for (int rank = 0; rank < num_ranks_ && !ranks.empty(); ++rank) {
      const int role = pick(random_, 0, static_cast<int>(ranks.size()) - 1);
      if (random_.uniform() < 0.9) {
        ranks[role].push_back(rank);
      } else {
        every_rank_has_a_role_ = false;
      }
    }
    for (std::size_t role = 0; role < ranks.size(); ++role) {
      maker_.role("role" + std::to_string(role), ranks[role]);
    }
  }

  void add_task() {
    const double kind = random_.uniform();
    if (kind < 0.1) {
      maker_.host_wait(pick_waits(random_, num_tasks_so_far(), 1));
    } else if (kind < 0.35) {
      add_collective();
    } else {
      // Short times, so that many of them meet.
      const std::string stream = pick_stream(random_, num_streams_);
      const int task =
          maker_.fixed(stream, pick(random_, 0, 9), pick_waits(random_, num_tasks_so_far(), 1.5));
      if (num_roles() > 0 && random_.uniform() < 0.4) {
        maker_.task(task).roles = {pick(random_, 0, num_roles() - 1)};
      }
      maker_.task(task).order_only = pick_waits(random_, task, 0.3);
    }
  }

  void add_collective() {
    const std::string stream = pick_stream(random_, num_streams_);
    const Collective collective{
        .operation = CollectiveOperation::kAllGather,
        .group = pick(random_, 0, static_cast<int>(maker_.program().groups.size()) - 1)};
    const bool by_role = num_roles() > 0 && every_rank_has_a_role_ && random_.uniform() < 0.5;
    for (int role = 0; role < (by_role ? num_roles() : 1); ++role) {
      const int task =
          maker_.collective(stream, collective, pick_waits(random_, num_tasks_so_far(), 1));
      if (by_role) {
        maker_.task(task).roles = {role};
      }
    }
  }

  Random& random_;
  int num_ranks_;
  int num_streams_;
  bool every_rank_has_a_role_ = true;
  ProgramMaker maker_;
};

inline void expect_equal(const std::vector<TaskSpan>& actual,
                         const std::vector<TaskSpan>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].rank, expected[i].rank) << "span " << i;
    EXPECT_EQ(actual[i].task, expected[i].task) << "span " << i;
    EXPECT_EQ(actual[i].launched, expected[i].launched) << "span " << i;
    EXPECT_EQ(actual[i].start, expected[i].start) << "span " << i;
    EXPECT_EQ(actual[i].transfer, expected[i].transfer) << "span " << i;
    EXPECT_EQ(actual[i].end, expected[i].end) << "span " << i;
  }
}

}  // namespace moesim
