#include "sim/schedule/paper_degrees.h"

#include <gtest/gtest.h>

#include "sim/schedule/task_kinds.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::small_scenario;

TEST(PaperDegreesTest, FsmoeHidesTheTimeBeyondItsAllToAlls) {
  // Case 2: r*e + g + s - 2(r-1)a = 60 + 2 - 20 = 42.
  EXPECT_EQ(closed_form_line(2, {.a = 10, .g = 1, .s = 1, .e = 30}, true).hidden(), 42);
  // Case 3: g + s.
  EXPECT_EQ(closed_form_line(2, {.a = 10, .g = 1, .s = 1, .e = 1}, true).hidden(), 2);
  // Case 4: r*(g + s) - 2(r-1)a = 80 - 20 = 60.
  EXPECT_EQ(closed_form_line(2, {.a = 10, .g = 20, .s = 20, .e = 1}, true).hidden(), 60);
}

TEST(PaperDegreesTest, OneCommunicationHidesOnlyExpertTime) {
  // c = 22: c + r*e - r*c = 60 - 22 = 38.
  EXPECT_EQ(closed_form_line(2, {.a = 10, .g = 1, .s = 1, .e = 30}, false).hidden(), 38);
  EXPECT_EQ(closed_form_line(2, {.a = 10, .g = 20, .s = 20, .e = 1}, false).hidden(), 0);
}

// Of a pass cut into r chunks, a collective takes 1 + 8/r milliseconds and an expert 16/r. The
// probe of the gradient's AllReduce, which has no experts, takes no time.
Evaluator chunked_evaluator() {
  Evaluator evaluator = unit_evaluator();
  evaluator.durations = [](const Program& program) {
    std::vector<Time> durations;
    for (const Task& task : program.tasks) {
      const auto chunks =
          std::count_if(program.tasks.begin(), program.tasks.end(), [&task](const Task& other) {
            return other.kind == task_kind::kExpert && other.pass == task.pass;
          });
      const bool communicates = std::holds_alternative<Collective>(task.descriptor);
      const double share = chunks > 0 ? 1e-3 / static_cast<double>(chunks) : 0;
      const double seconds = communicates ? (chunks > 0 ? 1e-3 : 0) + 8 * share : 16 * share;
      durations.push_back(Time::from_seconds(seconds));
    }
    return durations;
  };
  return evaluator;
}

// a = g = s = 1 + 8/r, e = 16/r, in milliseconds:
//    r   a    e   FSMoE: max(2ra, 2a + g + s + re, 2ra + g + s, 2a + r(g + s))
//                                                  one communication: c = 4a, max(rc, c + re)
//    1   9   16   52                               52
//    2   5    8   36 = 4a + 16                     40 = 2c
//    4   3    4   30 = 8a + 2a                     48 = 4c
//    8   2    2   36 = 16a + 2a                    64 = 8c
TEST(PaperDegreesTest, FsmoeUsesTheFormOfItsStreams) {
  Scenario scenario = small_scenario();
  scenario.model.capacity_factor = 2.5;  // ten rows, which eight chunks can cut
  const auto degrees = [&](const char* schedule) {
    const Plan plan = plan_schedule(schedule, scenario, Policy::kPaper, chunked_evaluator());
    EXPECT_EQ(plan.policy, "paper") << schedule;
    return plan.degrees;
  };
  EXPECT_EQ(degrees("fsmoe"), Degrees::uniform(2, 4, 4));
  EXPECT_EQ(degrees("fsmoe_no_iio"), Degrees::uniform(2, 2, 2));
}

}  // namespace
}  // namespace moesim
