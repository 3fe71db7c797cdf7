// Ranks on threads with a GPU each, whose collectives are NCCL's, on fakes of CUDA and NCCL:
// whatever the order in which streams go on, all schedules leave in all buffers, bit for bit, what
// the CPU backend leaves there: with drops, without capacity and skewed, and on stages.
#include <gtest/gtest.h>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/nccl/nccl_threads.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/cuda_runs.h"
#include "tests/property/equality_model.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"

namespace moesim {
namespace {

using testing::FakeCuda;
using validation::Load;

NcclOptions exact_options(bool native_all_to_all) {
  NcclOptions options;
  options.cuda.rounding = Rounding::kExact;
  options.cuda.keeps_all = true;
  options.native_all_to_all = native_all_to_all;
  return options;
}

class NcclTest : public ::testing::TestWithParam<std::string> {
 protected:
  NcclTest() {
    fake_nccl::reset();
    fake_nccl::set_enqueue([](cudaStream_t stream, fake_nccl::StreamWork work) {
      FakeCuda::add_attempt(stream, std::move(work));
    });
  }

  // On fakes whose streams go on in the order of the seed.
  static void expect_equal(const Program& program, uint64_t seed, const NcclOptions& options) {
    SCOPED_TRACE(::testing::Message() << program.name << ", seed " << seed);
    const TensorStore expected = testing::cpu_results(program);
    const FakeCuda cuda({.seed = seed, .num_devices = program.num_ranks});
    {
      NcclThreads executor(program, options);
      for (int run = 0; run < 2; ++run) {
        TensorStore tensors = testing::exact_inputs(program);
        const Execution execution = executor.run(tensors);
        EXPECT_EQ(execution.trace.spans.size() > 0, true);
        EXPECT_EQ(testing::first_difference(tensors, expected, !options.cuda.keeps_all), "");
      }
    }
    EXPECT_EQ(cuda.num_live_handles(), 0);
    EXPECT_EQ(fake_nccl::num_communicators(), 0);
  }
};

TEST_P(NcclTest, EqualsTheCpuBackend) {
  const Program program = testing::two_chunks(GetParam(), testing::equality_model());
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    expect_equal(program, seed, exact_options(seed % 2 == 0));
  }
}

// A kernel that is first launched beside one of NCCL's may wait for it for ever: all that a run
// launches has been launched before, once on each rank. Products have a plan on each rank.
TEST_P(NcclTest, KernelsAreLaunchedBeforeThereIsNccl) {
  const Program program = testing::two_chunks(GetParam(), testing::equality_model());
  const FakeCuda cuda({.num_devices = program.num_ranks});
  NcclThreads executor(program, exact_options(false));
  int num_products = 0;
  for (const auto& [function, count] : cuda.launches()) {
    const bool is_product = function.starts_with("product ");
    num_products += is_product ? 1 : 0;
    EXPECT_EQ(count, is_product ? 1 : program.num_ranks) << function;
  }
  EXPECT_GT(num_products, 0);
  FakeCuda::forbid_first_launches();
  TensorStore tensors = testing::exact_inputs(program);
  EXPECT_NO_THROW(executor.run(tensors));
  // One that the Program does not have is the first of its kind: it fails.
  EXPECT_NE(launch_kernel({.body = CosineScores{}, .blocks = 1}, nullptr), cudaSuccess);
}

TEST_P(NcclTest, EqualsTheCpuBackendInAnArena) {
  NcclOptions options = exact_options(false);
  options.cuda.keeps_all = false;
  expect_equal(testing::two_chunks(GetParam(), testing::equality_model()), 1, options);
}

// Parts are unequal, some of them empty.
TEST_P(NcclTest, EqualsTheCpuBackendWithoutCapacity) {
  for (const Load load : {Load::kSkewed, Load::kBalanced}) {
    SCOPED_TRACE(to_string(load));
    for (const ParallelConfig& parallel : validation::layouts_to_try(GetParam())) {
      const Scenario scenario = validation::equality_scenario(parallel, load);
      const Degrees degrees = validation::degrees_to_try(GetParam(), scenario).back();
      const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
      expect_equal(program, 1, exact_options(true));
    }
  }
}

// Stages issue a SHIFT as tasks of their own.
TEST_P(NcclTest, EqualsTheCpuBackendOnStages) {
  const Scenario scenario =
      testing::staged_model({.mp = 2, .dp = 1, .esp = 2, .ep = 1, .edp = 1, .pp = 2});
  expect_equal(testing::two_chunks(GetParam(), scenario), 1, exact_options(false));
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         NcclTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
