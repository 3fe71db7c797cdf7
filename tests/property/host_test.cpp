// Random Programs of fixed tasks, host waits and collectives without bytes, on 1 to 4 ranks with
// roles, several streams, launch overhead, 1 to 4 hardware queues and rank scales, executed for
// real: with the anchored clock the spans equal those of the recurrence, to the picosecond. The
// clock ignores every delay of this machine here, so that only wiring can fail. A failure prints
// its seed.
#include <numeric>

#include <gtest/gtest.h>

#include "kernels/host/host_executor.h"
#include "sim/analysis/recurrence.h"
#include "tests/property/random_fixed_program.h"

namespace moesim {
namespace {

constexpr int kNumPrograms = 60;
constexpr std::int64_t kUnit = 150'000'000;  // what takes 1 ps in the Program made takes 0.15 ms

Program slowed_down(Program program) {
  for (Task& task : program.tasks) {
    if (auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
      fixed->time = fixed->time * kUnit;
    }
  }
  return program;
}

TEST(HostPropertyTest, RandomProgramsEqualTheRecurrence) {
  for (int seed = 0; seed < kNumPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Program program = slowed_down(RandomFixedProgram(random).program());
    RecurrenceOptions recurrence;
    recurrence.hardware_queues = pick(random, 1, 4);
    recurrence.launch_overhead = ps(pick(random, 0, 3)) * kUnit;
    HostOptions options;
    options.clock = HostClock::kAnchored;
    options.overrun = Time::from_seconds(3600);
    options.hardware_queues = recurrence.hardware_queues;
    options.launch_overhead = recurrence.launch_overhead;
    std::vector<int> ranks(program.num_ranks);
    std::iota(ranks.begin(), ranks.end(), 0);
    TensorStore tensors(program, ranks);
    HostExecutor executor(program, options);
    const std::vector<TaskSpan> expected = solve_recurrence(program, recurrence);
    for (int run = 0; run < 2; ++run) {
      expect_equal(executor.run(tensors).trace.spans, expected);
    }
    if (HasFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace moesim
