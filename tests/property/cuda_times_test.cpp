// Random Programs of fixed tasks and collectives without bytes on the fake CUDA, task by task and
// as a graph: the spans that the events tell are those of the recurrence. Whole milliseconds, so
// that the floats in which CUDA tells times are exact.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "kernels/cuda/cuda_executor.h"
#include "sim/analysis/recurrence.h"
#include "tests/property/random_fixed_program.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

bool has_host_waits(const Program& program) {
  return std::any_of(program.tasks.begin(), program.tasks.end(), [](const Task& task) {
    return std::holds_alternative<HostWait>(task.descriptor);
  });
}

Program in_milliseconds(Program program) {
  constexpr int64_t kMillisecond = 1'000'000'000;
  for (Task& task : program.tasks) {
    if (auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
      fixed->time = fixed->time * kMillisecond;
    }
  }
  program.rank_scale.clear();
  return program;
}

// Of host waits the end alone: when the host began to wait is no device's time.
void expect_equal(const Program& program,
                  const std::vector<TaskSpan>& actual,
                  const std::vector<TaskSpan>& expected) {
  std::map<std::pair<int, int>, TaskSpan> spans;
  for (const TaskSpan& span : actual) {
    spans[{span.rank, span.task}] = span;
  }
  ASSERT_EQ(actual.size(), expected.size());
  for (const TaskSpan& right : expected) {
    SCOPED_TRACE(program.tasks[static_cast<size_t>(right.task)].name + " on rank " +
                 std::to_string(right.rank));
    ASSERT_EQ(spans.count({right.rank, right.task}), 1U);
    const TaskSpan& left = spans.at({right.rank, right.task});
    EXPECT_EQ(left.end, right.end);
    EXPECT_LE(left.launched, left.start);
    if (program.tasks[static_cast<size_t>(right.task)].stream != kNone) {
      EXPECT_EQ(left.start, right.start);
      EXPECT_EQ(left.transfer, right.transfer);
    }
  }
}

TEST(CudaTimesTest, RandomProgramsEqualTheRecurrence) {
  constexpr int kNumPrograms = 300;
  int num_run = 0;
  for (int seed = 0; seed < kNumPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const Program program = in_milliseconds(RandomFixedProgram(random).program());
    const bool waits = has_host_waits(program);
    if (waits && program.num_ranks > 1) {
      continue;  // one host issues for all ranks here: another rank's wait may hold it up
    }
    const std::vector<TaskSpan> expected = solve_recurrence(program, {});
    for (const bool uses_graph : {false, true}) {
      if (uses_graph && waits) {
        continue;
      }
      const testing::FakeCuda cuda({.seed = static_cast<uint64_t>(seed) + 1});
      TensorStore tensors(program);
      CudaExecutor executor(program, {.uses_graph = uses_graph});
      expect_equal(program, executor.run(tensors).trace.spans, expected);
      ++num_run;
    }
    if (HasFailure()) {
      return;
    }
  }
  EXPECT_GT(num_run, kNumPrograms / 2);
}

}  // namespace
}  // namespace moesim
