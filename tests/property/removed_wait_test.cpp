// Every wait of every schedule, taken away: the verifier names the race, and run for real with the
// race lost the results are not the reference's.
//
// No luck is needed to lose it. The task that was waited for is held on every rank until the one
// that no longer waits has ended there, and the trace says that it was. One of the two then finds
// rows as they were filled at the start (NaN, no index), or as the other should not yet have left
// them; no result survives that. With the wait in place the same task is held for a while, and
// nothing differs. Other tasks are delayed at random in both.
#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/host/host_executor.h"
#include "kernels/inputs.h"
#include "kernels/reference/equality.h"
#include "sim/base/error.h"
#include "sim/program/verifier.h"
#include "tests/property/equality_model.h"

namespace moesim {
namespace {

constexpr uint64_t kSeed = 20261130;  // of delays
const Time kLongestDelay = Time::from_seconds(0.2e-3);

// How long a task is held where the wait is in place: any time will do.
const Time kWhile = Time::from_seconds(5e-3);
// And where it is not: the other one comes within milliseconds, unless something else still keeps
// the two in order.
const Time kAnyTime = Time::from_seconds(60);

struct Wait {
  int earlier = 0;
  int later = 0;
};

std::vector<Wait> waits_of(const Program& program) {
  std::vector<Wait> waits;
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    for (const int earlier : program.tasks[static_cast<size_t>(task)].waits) {
      waits.push_back({earlier, task});
    }
  }
  return waits;
}

Program without(const Program& program, const Wait& wait) {
  Program mutant = program;
  std::erase(mutant.tasks[static_cast<size_t>(wait.later)].waits, wait.earlier);
  return mutant;
}

// Executors obey waits that protect no data and the verifier does not count on them: one of
// tutel_improved's keeps two tasks in order that also have a wait.
Program without_order_only(Program program) {
  for (Task& task : program.tasks) {
    task.order_only.clear();
  }
  return program;
}

bool names_race(const Verdict& verdict, const Wait& wait) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(), [&](const Problem& problem) {
    return problem.kind == ProblemKind::kRace &&
           problem.tasks == std::vector<int>{wait.earlier, wait.later};
  });
}

// Both tasks run on every rank.
bool is_reversed(const Trace& trace, int num_ranks, const Wait& wait) {
  std::vector<Time> start(static_cast<size_t>(num_ranks));
  std::vector<Time> end(static_cast<size_t>(num_ranks));
  for (const TaskSpan& span : trace.spans) {
    if (span.task == wait.earlier) {
      start[static_cast<size_t>(span.rank)] = span.start;
    } else if (span.task == wait.later) {
      end[static_cast<size_t>(span.rank)] = span.end;
    }
  }
  return std::equal(start.begin(), start.end(), end.begin(), std::greater_equal<>());
}

class RemovedWaitTest : public ::testing::TestWithParam<std::string> {
 protected:
  struct Outcome {
    bool reversed = false;   // the later task ended first, on every rank
    std::string difference;  // from the reference; empty where there is none
  };

  Outcome run(const Program& program, const Wait& wait, Time longest) const {
    HostOptions options;
    options.rounding = Rounding::kExact;
    options.delays = DelayInjection{kSeed, kLongestDelay};
    options.hold = Hold{wait.earlier, wait.later, longest};
    TensorStore tensors(program);
    fill_inputs(InputData::kInteger, tensors);
    const Execution execution = HostExecutor(program, options).run(tensors);
    return {is_reversed(execution.trace, program.num_ranks, wait), difference(program, tensors)};
  }

  const Scenario scenario_ = testing::equality_model();
  const Program program_ = without_order_only(testing::two_chunks(GetParam(), scenario_));
  const ReferenceResults expected_ =
      run_beside_reference(program_, program_, scenario_, Rounding::kExact).expected;

 private:
  // Ranks that contradict each other differ too.
  std::string difference(const Program& program, const TensorStore& tensors) const {
    try {
      const RowMap map(program);
      return first_difference(
          gather_results(map, scenario_.model, scenario_.parallel, tensors), expected_, 0);
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST_P(RemovedWaitTest, IsNamedAndSeen) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the races are meant";
#endif
  ASSERT_TRUE(verify(program_).ok());
  const std::vector<Wait> waits = waits_of(program_);
  size_t num_seen = 0;
  for (const Wait& wait : waits) {
    SCOPED_TRACE(program_.tasks[static_cast<size_t>(wait.later)].name + " without its wait for " +
                 program_.tasks[static_cast<size_t>(wait.earlier)].name);
    const Program mutant = without(program_, wait);
    EXPECT_TRUE(names_race(verify(mutant), wait));
    const Outcome right = run(program_, wait, kWhile);
    EXPECT_FALSE(right.reversed);
    EXPECT_EQ(right.difference, "");
    const Outcome wrong = run(mutant, wait, kAnyTime);
    EXPECT_TRUE(wrong.reversed);
    EXPECT_NE(wrong.difference, "");
    num_seen += wrong.difference.empty() ? 0 : 1;
  }
  EXPECT_GE(waits.size(), 30U);
  std::cout << GetParam() << ": " << num_seen << " of " << waits.size()
            << " removed waits seen in the results; delays of seed " << kSeed << '\n';
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         RemovedWaitTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
