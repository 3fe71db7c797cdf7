// The CUDA backend on a fake CUDA runtime: whatever the order in which streams go on, all schedules
// leave in all buffers, bit for bit, what the CPU backend leaves there; with a wait missing, they
// do not.
#include <iostream>

#include <gtest/gtest.h>

#include "kernels/cuda/cuda_executor.h"
#include "sim/base/error.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/cuda_runs.h"
#include "tests/property/equality_model.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::cpu_results;
using testing::cuda_results;
using testing::FakeCuda;
using testing::first_difference;

class CudaTest : public ::testing::TestWithParam<std::string> {
 protected:
  const Program program_ = testing::two_chunks(GetParam(), testing::equality_model());
};

TEST_P(CudaTest, EqualsTheCpuBackend) {
  constexpr uint64_t kNumSeeds = 25;
  const TensorStore expected = cpu_results(program_);
  for (uint64_t seed = 1; seed <= kNumSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const FakeCuda cuda({.seed = seed});
    EXPECT_EQ(first_difference(cuda_results(program_, {.keeps_all = true}), expected, false), "");
    EXPECT_EQ(cuda.num_live_handles(), 0);
  }
}

// Tensors that are not alive at once share memory.
TEST_P(CudaTest, EqualsTheCpuBackendInAnArena) {
  constexpr uint64_t kNumSeeds = 25;
  const TensorStore expected = cpu_results(program_);
  for (uint64_t seed = 1; seed <= kNumSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const FakeCuda cuda({.seed = seed});
    EXPECT_EQ(first_difference(cuda_results(program_, {}), expected, true), "");
  }
}

// The same graph again and again.
TEST_P(CudaTest, EqualsTheCpuBackendAsAGraph) {
  constexpr uint64_t kNumSeeds = 10;
  const TensorStore expected = cpu_results(program_);
  for (uint64_t seed = 1; seed <= kNumSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const FakeCuda cuda({.seed = seed});
    CudaExecutor executor(program_, {.rounding = Rounding::kExact, .uses_graph = true});
    for (int run = 0; run < 2; ++run) {
      TensorStore tensors = testing::exact_inputs(program_);
      executor.run(tensors);
      EXPECT_EQ(first_difference(tensors, expected, true), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         CudaTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(CudaStagesTest, EqualTheCpuBackend) {
  for (const std::string& schedule : schedule_names()) {
    SCOPED_TRACE(schedule);
    const Scenario scenario =
        testing::staged_model({.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1, .pp = 2});
    const Program program = testing::two_chunks(schedule, scenario);
    const TensorStore expected = cpu_results(program);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const FakeCuda cuda({.seed = seed});
      EXPECT_EQ(first_difference(cuda_results(program, {}), expected, true), "") << seed;
    }
  }
}

// Every load of the equality check: capacity with drops and without, routings, four kinds of gate.
TEST(CudaLoadsTest, EqualTheCpuBackend) {
  for (const auto& trial : validation::equality_cases("fsmoe")) {
    SCOPED_TRACE(to_string(trial.load) + std::string(", ") +
                 validation::describe(trial.scenario, trial.degrees));
    const Program program =
        build_schedule(trial.schedule, trial.scenario, trial.degrees, unit_evaluator());
    const FakeCuda cuda;
    ASSERT_EQ(
        first_difference(cuda_results(program, {.keeps_all = true}), cpu_results(program), false),
        "");
  }
}

// Each wait taken away: under some seed the later task comes first, and somebody reads what is not
// there yet, or writes what is still to be read. Waits that protect no data are left out, for they
// may keep the two in order.
TEST_P(CudaTest, EachRemovedWaitShows) {
  constexpr uint64_t kMostSeeds = 400;
  Program program = program_;
  for (Task& task : program.tasks) {
    task.order_only.clear();
  }
  const TensorStore expected = cpu_results(program);
  int num_waits = 0;
  uint64_t most_seeds = 0;
  for (Task& task : program.tasks) {
    const std::vector<int> waits = task.waits;
    for (const int wait : waits) {
      std::erase(task.waits, wait);
      uint64_t seed = 0;
      bool is_seen = false;
      while (!is_seen && seed < kMostSeeds) {
        const FakeCuda cuda({.seed = ++seed});
        is_seen =
            !first_difference(cuda_results(program, {.keeps_all = true}), expected, false).empty();
      }
      EXPECT_TRUE(is_seen) << task.name << " without its wait for "
                           << program.tasks[static_cast<size_t>(wait)].name;
      most_seeds = std::max(most_seeds, seed);
      ++num_waits;
      task.waits = waits;
    }
  }
  std::cout << GetParam() << ": " << num_waits << " removed waits, each seen within " << most_seeds
            << " seeds\n";
}

}  // namespace
}  // namespace moesim
