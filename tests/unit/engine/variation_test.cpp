// Stragglers and jitter in closed form: four GPUs, or more, that compute and then meet.
#include "sim/program/variation.h"

#include <cmath>

#include <gmock/gmock.h>

#include "sim/analysis/usage.h"
#include "sim/base/error.h"
#include "sim/engine/simulate.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kWork = 1'000'000'000;  // picoseconds of the operation
constexpr std::int64_t kMeeting = 1'000;       // of the collective

// An operation on every rank, then an all-reduce of all. The operation is a copy that moves 8 bytes
// (read and written once), at 8e-9 bytes per picosecond.
class VariationTest : public testing::Test {
 protected:
  VariationTest() {
    profile_.memory_bytes_per_second = 8e12 / kWork;
    profile_.collectives = {make_cost(CollectiveOperation::kAllReduce, Span::kNode, kMeeting, 0)};
  }

  Program make(int num_ranks) const {
    ProgramMaker maker(num_ranks);
    std::vector<int> ranks(num_ranks);
    for (int rank = 0; rank < num_ranks; ++rank) {
      ranks[rank] = rank;
    }
    const int world = maker.group("world", {ranks});
    Program& program = maker.program();
    for (const char* name : {"x", "y"}) {
      Tensor& tensor = program.tensors.emplace_back();
      tensor.name = name;
      tensor.rows = tensor.columns = 1;
    }
    maker.fixed("compute", 0);
    Task& copy = program.tasks.front();
    copy.descriptor = Elementwise{};
    copy.reads = {{.tensor = 0, .num_blocks = 1, .num_rows = 1}};
    copy.writes = {{.tensor = 1, .num_blocks = 1, .num_rows = 1}};
    maker.collective("communication", {.group = world, .bytes = 100}, {0});
    return program;
  }

  Trace run(const Program& program, Resolution resolution = Resolution::kAuto) const {
    const Cluster cluster = make_cluster(1, program.num_ranks);
    return simulate(program, &cluster, &profile_, {.resolution = resolution});
  }

  Profile profile_;
};

// At half speed rank 2 computes twice as long, the three others wait for it as long as they
// compute: 3/4 of the work in the mean of all.
TEST_F(VariationTest, OneStragglerHoldsUpAll) {
  Program program = make(4);
  program.rank_speed = {1, 1, 0.5, 1};
  const Trace trace = run(program);
  EXPECT_EQ(trace.resolution, "fold");
  EXPECT_EQ(trace.classes.size(), 2U);
  EXPECT_EQ(trace.end, ps(2 * kWork + kMeeting));
  const Usage use = usage(program, trace);
  EXPECT_EQ(use.straggler_wait, ps(kWork * 3 / 4));
  EXPECT_EQ(use.computing, ps(kWork * 5 / 4));
  EXPECT_EQ(run(program, Resolution::kPorts).end, trace.end);
}

TEST_F(VariationTest, AFasterGpuHelpsNobodyWhoWaits) {
  Program program = make(4);
  program.rank_speed = {1, 1, 4, 1};
  const Trace trace = run(program);
  EXPECT_EQ(trace.end, ps(kWork + kMeeting));
  EXPECT_EQ(usage(program, trace).straggler_wait, ps(kWork * 3 / 4 / 4));
}

// Classes are split by the speed and by nothing else.
TEST_F(VariationTest, EqualSpeedsFold) {
  Program program = make(8);
  program.rank_speed.assign(8, 0.25);
  EXPECT_EQ(run(program).classes.size(), 1U);
  EXPECT_EQ(run(program).end, ps(4 * kWork + kMeeting));
}

TEST_F(VariationTest, EveryRankHasItsOwnDraw) {
  Program program = make(4);
  program.rank_speed = {1, 0.5, 1, 1};
  program.jitter = Jitter{0.2, JitterDistribution::kLogNormal, 5};
  const Trace trace = run(program);
  EXPECT_EQ(trace.resolution, "ports");
  Time last;
  for (const TaskSpan& span : trace.spans) {
    if (span.task == 0) {
      const double factor = jitter_factor(*program.jitter, program.tasks[0].name, span.rank);
      EXPECT_EQ(span.end - span.start, ps(kWork).scaled(factor * (span.rank == 1 ? 2 : 1)));
      last = std::max(last, span.end);
    }
  }
  EXPECT_EQ(trace.end, last + ps(kMeeting));
  EXPECT_EQ(run(program).end, trace.end);
  program.jitter->seed = 6;
  EXPECT_NE(run(program).end, trace.end);
}

// The largest of n shifted exponentials has the mean 1 - d + d * H_n, H_16 = 3.380729, and the
// variance d^2 * (1 + 1/4 + … + 1/256) = 1.584347 d^2. Over 400 seeds: five standard errors.
TEST_F(VariationTest, TheLastOfManyArrivesWhenTheHarmonicNumberSays) {
  constexpr double kDeviation = 0.3;
  constexpr int kSeeds = 400;
  Program program = make(16);
  double sum = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    program.jitter = Jitter{
        kDeviation, JitterDistribution::kShiftedExponential, static_cast<std::uint64_t>(seed)};
    sum += ratio(run(program).end - ps(kMeeting), ps(kWork));
  }
  EXPECT_NEAR(sum / kSeeds,
              1 - kDeviation + kDeviation * 3.380729,
              5 * kDeviation * std::sqrt(1.584347 / kSeeds));
}

TEST_F(VariationTest, JitterDoesNotFold) {
  Program program = make(4);
  program.jitter = Jitter{0.2, JitterDistribution::kLogNormal, 1};
  try {
    run(program, Resolution::kFold);
    FAIL() << "it folded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("leave out --resolution fold, or the jitter"));
  }
}

// What plans are made with: the speed of the first rank, and the mean of the draws.
TEST_F(VariationTest, DurationsForPlansHaveNoJitter) {
  Program program = make(4);
  program.rank_speed = {0.5, 1, 1, 1};
  program.jitter = Jitter{0.2, JitterDistribution::kLogNormal, 1};
  const Cluster cluster = make_cluster(1, 4);
  EXPECT_EQ(task_durations(program, &cluster, &profile_).front(), ps(2 * kWork));
}

}  // namespace
}  // namespace moesim
