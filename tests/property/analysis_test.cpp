// What must hold of the analyses for every Program: the critical path explains the whole iteration,
// and no lower bound is above it. Random Programs, seeded; a failure prints its seed.
#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/analysis/bounds.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/memory.h"
#include "sim/analysis/usage.h"
#include "sim/base/random.h"
#include "tests/support/hand_program.h"
#include "tests/support/rank_work.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;

constexpr std::uint64_t kNumSeeds = 300;
constexpr int kNumRanks = 4;

// A Program of 1 to 60 tasks on 1 to 4 streams: fixed times, collectives in pairs or among all, now
// and then a host wait. Half of the tasks write a tensor, and later ones read some of those.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed), hand_(kNumRanks, streams()) {
    groups_ = {hand_.add_group("pairs", {{0, 1}, {2, 3}}),
               hand_.add_group("across", {{0, 2}, {1, 3}}),
               hand_.add_group("world", {{0, 1, 2, 3}})};
    const std::int64_t num_tasks = random_.uniform_int(1, 60);
    for (std::int64_t i = 0; i < num_tasks; ++i) {
      add_task();
    }
    options_.hardware_queues = static_cast<int>(random_.uniform_int(1, 4));
    options_.launch_overhead = ps(random_.uniform_int(0, 1) * random_.uniform_int(0, 20));
  }

  // Ranks of different speed, which collectives then wait for.
  void make_uneven() {
    for (int rank = 0; rank < kNumRanks; ++rank) {
      options_.rank_scale.push_back(random_.uniform(1, 2));
    }
  }

  // The Program with what the options say about its ranks.
  Program program() const {
    Program program = hand_.program();
    program.rank_scale = options_.rank_scale;
    return program;
  }

  const std::vector<Time>& durations() const { return hand_.durations(); }

  // What sharing does to collectives: each takes as long as alone or longer.
  std::vector<Time> contended() {
    std::vector<Time> durations = hand_.durations();
    for (std::size_t i = 0; i < durations.size(); ++i) {
      const bool collective =
          std::holds_alternative<Collective>(hand_.program().tasks[i].descriptor);
      durations[i] += collective ? ps(random_.uniform_int(0, 50)) : ps(0);
    }
    return durations;
  }

  const test::RecurrenceOptions& options() const { return options_; }

  Trace run(const std::vector<Time>& durations) const {
    return test::run_recurrence(hand_.program(), durations, options_);
  }

 private:
  std::vector<std::string> streams() {
    std::vector<std::string> names;
    const std::int64_t count = random_.uniform_int(1, 4);
    for (std::int64_t i = 0; i < count; ++i) {
      names.push_back(fmt::format("stream{}", i));
    }
    return names;
  }

  int any(int count) { return static_cast<int>(random_.uniform_int(0, count - 1)); }

  void add_task() {
    const int num_tasks = static_cast<int>(hand_.program().tasks.size());
    std::set<int> waits;
    for (std::int64_t i = num_tasks == 0 ? 0 : random_.uniform_int(0, 3); i > 0; --i) {
      waits.insert(any(num_tasks));
    }
    if (random_.uniform() < 0.05) {
      hand_.add_host_wait({waits.begin(), waits.end()});
      return;
    }
    const int stream = any(static_cast<int>(hand_.program().streams.size()));
    const Time time = ps(random_.uniform_int(0, 100));
    const std::string kind = fmt::format("kind{}", any(4));
    if (random_.uniform() < 0.5) {
      hand_.add_fixed(kind, stream, time);
    } else {
      hand_.add_collective(kind, stream, test::all_to_all(groups_[any(3)]), time);
    }
    add_waits(num_tasks, waits);
  }

  // Waits are order alone, or follow data where the task waited for has some.
  void add_waits(int index, const std::set<int>& waits) {
    Task& task = hand_.task(index);
    const bool has_data = random_.uniform() < 0.5;
    for (const int wait : waits) {
      const std::vector<Region>& writes = hand_.program().tasks[wait].writes;
      if (has_data && !writes.empty()) {
        task.reads.push_back(writes.front());
      }
      (random_.uniform() < 0.9 || has_data ? task.waits : task.order_only).push_back(wait);
    }
    if (has_data) {
      const int tensor = hand_.add_tensor(task.name, static_cast<int>(random_.uniform_int(1, 9)));
      task.writes.push_back(test::rows(hand_.program(), tensor));
    }
  }

  Random random_;
  HandProgram hand_;
  std::vector<int> groups_;
  test::RecurrenceOptions options_;
};

Time sum_of(const std::map<std::string, Time>& parts) {
  Time sum;
  for (const auto& [kind, time] : parts) {
    sum += time;
  }
  return sum;
}

void expect_explained(const Program& program, const Trace& trace, int hardware_queues) {
  const CriticalPath path = critical_path(program, trace, hardware_queues);
  const std::map<std::string, Time> parts = path.by_kind(program, trace);
  EXPECT_EQ(sum_of(parts), trace.end);
  // The recurrence starts tasks as soon as it may: everything has a cause.
  EXPECT_FALSE(parts.contains("idle"));
  EXPECT_FALSE(parts.contains("straggler_wait"));
  Time reached;
  for (const CriticalStep& step : path.steps) {
    EXPECT_EQ(step.begin, reached);
    reached = step.end;
  }
}

TEST(AnalysisProperty, TheCriticalPathExplainsTheIteration) {
  for (std::uint64_t seed = 1; seed <= kNumSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomProgram random(seed);
    if (seed % 2 == 0) {
      random.make_uneven();
    }
    const Trace trace = random.run(random.contended());
    expect_explained(random.program(), trace, random.options().hardware_queues);
  }
}

TEST(AnalysisProperty, NoLowerBoundIsAboveTheIteration) {
  for (std::uint64_t seed = 1; seed <= kNumSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomProgram random(seed);
    if (seed % 2 == 0) {
      random.make_uneven();
    }
    const Trace trace = random.run(random.contended());
    const LowerBounds bounds =
        lower_bounds(random.program(), test::work_of_ranks(random.program(), random.durations()));
    EXPECT_LE(bounds.busiest, trace.end);
    EXPECT_LE(bounds.dependency_chain, trace.end);
  }
}

TEST(AnalysisProperty, ShareOfTheIterationIsAtMostAll) {
  for (std::uint64_t seed = 1; seed <= kNumSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomProgram random(seed);
    random.make_uneven();
    const Trace trace = random.run(random.contended());
    const Usage use = usage(random.program(), trace);
    for (const auto& [stream, busy] : use.busy) {
      EXPECT_LE(busy, trace.end) << stream;
    }
    EXPECT_LE(use.exposed_communication, trace.end);
    EXPECT_LE(use.straggler_wait, trace.end);
  }
}

// One representative of ranks that are alike says what all of them say.
TEST(AnalysisProperty, AFoldedTraceSaysTheSame) {
  for (std::uint64_t seed = 1; seed <= kNumSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomProgram random(seed);
    const Program program = random.program();
    const Trace all = random.run(random.durations());
    const Trace one = test::folded(all);
    const int queues = random.options().hardware_queues;
    EXPECT_EQ(critical_path(program, all, queues).by_kind(program, all),
              critical_path(program, one, queues).by_kind(program, one));
    EXPECT_EQ(usage(program, all).busy, usage(program, one).busy);
    EXPECT_EQ(memory_use(program, all).peak_bytes, memory_use(program, one).peak_bytes);
  }
}

}  // namespace
}  // namespace moesim
