// What stages and micro-batches add to the schedules' Programs: roles, SHIFTs, where gradients are
// reduced; and that one stage with one micro-batch adds nothing.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "sim/schedule/degrees.h"
#include "sim/schedule/task_kinds.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::degrees;
using testing::small_scenario;

// The small scenario on stages of its 8 ranks, two layers each.
Scenario staged(int stages, int micro_batches) {
  Scenario scenario = small_scenario();
  scenario.parallel.pp = stages;
  scenario.model.layers = 2 * stages;
  scenario.model.batch = 2 * micro_batches;
  scenario.pipeline.micro_batches = micro_batches;
  return scenario;
}

Program build(const std::string& schedule, const Scenario& scenario) {
  return build_schedule(schedule, scenario, degrees(scenario, 2, 2), unit_evaluator());
}

class StagesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(StagesTest, EachTaskIsOfOneStageAndEachShiftOfTwo) {
  const Program program = build(GetParam(), staged(3, 2));
  ASSERT_EQ(program.num_ranks, 24);
  ASSERT_EQ(program.roles.size(), 3U);
  EXPECT_EQ(program.roles[1].name, "stage1");
  EXPECT_EQ(program.roles[1].ranks, (std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15}));
  std::map<std::string, int> shifts;  // by stream
  for (const Task& task : program.tasks) {
    if (task.pass == Pass::kUpdate) {
      EXPECT_TRUE(task.roles.empty()) << task.name;
      EXPECT_EQ(task.micro_batch, kNone) << task.name;
    } else if (task.kind == task_kind::kActivationShift || task.kind == task_kind::kGradientShift) {
      EXPECT_EQ(task.roles.size(), 2U) << task.name;
      ++shifts[program.streams[static_cast<size_t>(task.stream)]];
    } else {
      EXPECT_EQ(task.roles, std::vector<int>{task.layer / 2}) << task.name;
      EXPECT_TRUE(task.micro_batch == 0 || task.micro_batch == 1) << task.name;
    }
  }
  // Two micro-batches over the boundaries of stages 0 and 1, 1 and 2.
  EXPECT_EQ(shifts,
            (std::map<std::string, int>{{"pp_even.backward", 2},
                                        {"pp_even.forward", 2},
                                        {"pp_odd.backward", 2},
                                        {"pp_odd.forward", 2}}));
}

// B*L*M = 2*8*8 elements of a micro-batch, 4 bytes each.
TEST_P(StagesTest, ShiftsMoveAMicroBatch) {
  for (const Task& task : build(GetParam(), staged(2, 4)).tasks) {
    if (task.kind == task_kind::kActivationShift || task.kind == task_kind::kGradientShift) {
      EXPECT_EQ(std::get<Collective>(task.descriptor).bytes, 2 * 8 * 8 * 4);
      EXPECT_EQ(std::get<Collective>(task.descriptor).distance,
                task.kind == task_kind::kActivationShift ? 1 : -1);
    }
  }
}

// Each row once in each stage, when the last micro-batch goes backward: 2 layers of 4M/2 rows (mp
// = 2, kv 2 of 4 heads: 2*M + 2*KV = 2*8 + 2*4 columns over two ranks are 12 rows).
TEST_P(StagesTest, DenseGradientsAreReducedOnceInTheLastMicroBatch) {
  std::map<std::pair<int, int>, int> reduced;  // by stage and row
  for (const Task& task : build(GetParam(), staged(2, 3)).tasks) {
    if (task.kind == task_kind::kGradientAllReduce) {
      EXPECT_EQ(task.micro_batch, 2) << task.name;
      ASSERT_EQ(task.roles.size(), 1U);
      for (int row = 0; row < task.reads[0].num_rows; ++row) {
        ++reduced[{task.roles[0], task.reads[0].first_row + row}];
      }
    }
  }
  EXPECT_EQ(reduced.size(), 2U * 2 * 12);
  for (const auto& [row, count] : reduced) {
    EXPECT_EQ(count, 1);
  }
}

TEST_P(StagesTest, MicroBatchesAddUp) {
  const Program program = build(GetParam(), staged(1, 2));
  EXPECT_TRUE(program.roles.empty());
  int adding = 0;
  for (const Task& task : program.tasks) {
    const bool backward = task.pass == Pass::kBackward;
    if (backward && std::holds_alternative<Expert>(task.descriptor) && task.micro_batch == 1) {
      // dy, x, hidden, w1, w2, then the gradients that the first micro-batch wrote.
      EXPECT_EQ(task.reads.size(), 7U) << task.name;
      ++adding;
    }
  }
  EXPECT_GT(adding, 0);
}

TEST_P(StagesTest, OneOfEachAddsNothing) {
  const Program program = build(GetParam(), small_scenario());
  EXPECT_TRUE(program.roles.empty());
  EXPECT_EQ(program.groups.size(), 7U);
  for (const Task& task : program.tasks) {
    EXPECT_TRUE(task.roles.empty());
    EXPECT_EQ(task.micro_batch, kNone);
    EXPECT_EQ(task.name.find("micro"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         StagesTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

// Slots of the last layer of a stage would carry nothing: the gradients of the next stage are not
// there.
TEST(StagedGradientTest, StaysInItsStage) {
  const Program program = build("tutel_improved", staged(2, 1));
  std::vector<int> layers;
  for (const Task& task : program.tasks) {
    if (task.kind == task_kind::kGradientAllReduce) {
      layers.push_back(task.layer);
    }
  }
  // Stage 1: the gradient of layer 3 beside layer 2's attention, layer 2's own after it. Stage 0
  // likewise.
  EXPECT_EQ(layers, (std::vector<int>{2, 2, 0, 0}));
}

// Degrees are those of a micro-batch, not chunks of all of them together.
TEST(StagedPlanTest, SearchesOnOneMicroBatchAndBuildsAll) {
  std::set<size_t> sizes;
  Evaluator evaluator = unit_evaluator();
  evaluator.evaluate = [&sizes](const Program& program) {
    sizes.insert(program.tasks.size());
    const Time total = Time::from_picoseconds(static_cast<int64_t>(program.tasks.size()));
    return Evaluation{total, total, total};
  };
  const Scenario scenario = staged(2, 4);
  const Plan plan = plan_schedule("tutel", scenario, Policy::kSearch, evaluator);
  // The fewest tasks are the fastest: degree 1.
  EXPECT_EQ(plan.degrees, degrees(scenario, 1, 1));
  EXPECT_EQ(plan.program.tasks.size(),
            build_schedule("tutel", scenario, degrees(scenario, 1, 1), evaluator).tasks.size());
  ASSERT_TRUE(plan.runner_up);
  EXPECT_GT(plan.runner_up->time.picoseconds(), std::ssize(plan.program.tasks));
  EXPECT_LT(*sizes.begin(), plan.program.tasks.size() / 2);
}

// One micro-batch alone is fastest with the fewest tasks: degrees 1, 2, 3, and so on. With all four
// a Program of degree 3 is the fastest, one of degree 4 faster still: the first is found, the
// second is not among those that are looked at. The runner-up is the next of those.
TEST(StagedPlanTest, TheBestForOneMicroBatchAreComparedOnAll) {
  const Scenario scenario = staged(2, 4);
  Evaluator evaluator = unit_evaluator();
  const auto num_tasks = [&](int degree) {
    return std::ssize(
        build_schedule("tutel", scenario, degrees(scenario, degree, degree), evaluator).tasks);
  };
  const std::map<std::int64_t, std::int64_t> times = {{num_tasks(1), 9'000'000},
                                                      {num_tasks(2), 8'000'000},
                                                      {num_tasks(3), 7'000'000},
                                                      {num_tasks(4), 6'000'000}};
  ASSERT_EQ(times.size(), 4U);
  evaluator.evaluate = [&times](const Program& program) {
    const auto known = times.find(std::ssize(program.tasks));
    const Time total =
        Time::from_picoseconds(known == times.end() ? std::ssize(program.tasks) : known->second);
    return Evaluation{total, total, total};
  };
  const Plan plan = plan_schedule("tutel", scenario, Policy::kSearch, evaluator);
  EXPECT_EQ(plan.degrees, degrees(scenario, 3, 3));
  EXPECT_EQ(std::ssize(plan.program.tasks), num_tasks(3));
  ASSERT_TRUE(plan.runner_up);
  EXPECT_EQ(plan.runner_up->degrees, degrees(scenario, 2, 2));
  EXPECT_EQ(plan.runner_up->time.picoseconds(), 8'000'000);
}

}  // namespace
}  // namespace moesim
