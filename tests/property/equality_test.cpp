// What a schedule's Program computes equals an unpartitioned model that takes the same capacity
// domains: bit for bit in exact mode, whatever the degrees, the routing and the layout of ranks.
#include "tests/property/equality.h"

#include <gtest/gtest.h>

#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::degrees;
using testing::unit_evaluator;

struct Layout {
  const char* name;
  ParallelConfig parallel;
};

constexpr Layout kLayouts[] = {
    {"4 ranks, mp = esp = 2", {.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1}},
    {"4 ranks, mp 1, esp 2", {.mp = 1, .dp = 4, .esp = 2, .ep = 2, .edp = 1}},
    {"4 ranks, mp 2, esp 1, edp 2", {.mp = 2, .dp = 2, .esp = 1, .ep = 2, .edp = 2}},
    {"4 ranks, mp = esp = 1", {.mp = 1, .dp = 4, .esp = 1, .ep = 4, .edp = 1}},
    {"8 ranks, mp = esp = 2", {.mp = 2, .dp = 4, .esp = 2, .ep = 4, .edp = 1}},
    {"8 ranks, mp = esp = 4", {.mp = 4, .dp = 2, .esp = 4, .ep = 2, .edp = 1}},
    {"8 ranks, mp = esp = 2, edp 2", {.mp = 2, .dp = 4, .esp = 2, .ep = 2, .edp = 2}},
    {"8 ranks, mp 4, esp 2", {.mp = 4, .dp = 2, .esp = 2, .ep = 4, .edp = 1}},
    {"8 ranks, mp 2, esp 1", {.mp = 2, .dp = 4, .esp = 1, .ep = 8, .edp = 1}},
};

enum class Load { kBalanced, kSkewed, kDrops };

Scenario scenario_of(const ParallelConfig& parallel, Load load) {
  Scenario scenario = testing::small_scenario();
  scenario.parallel = parallel;
  scenario.model.experts = 8;
  scenario.model.sequence = 16;
  scenario.model.kv_heads = 4;
  scenario.model.optimizer = OptimizerAlgorithm::kSgd;
  switch (load) {
    case Load::kBalanced:
      scenario.model.capacity_factor.reset();
      break;
    case Load::kSkewed:
      scenario.model.capacity_factor.reset();
      scenario.routing.kind = RoutingKind::kZipf;
      scenario.routing.zipf_exponent = 1;
      break;
    case Load::kDrops:
      scenario.model.capacity_factor = 0.75;
      break;
  }
  return scenario;
}

std::vector<Degrees> degrees_to_try(const std::string& schedule, const Scenario& scenario) {
  std::vector<Degrees> all;
  if (schedule == "sp_moe") {
    for (const auto& [moe, non_moe] : {std::pair{1, 1}, {2, 1}, {2, 2}, {3, 3}, {4, 2}, {2, 4}}) {
      all.push_back(degrees(scenario, moe, moe, non_moe));
    }
    return all;
  }
  if (schedule.rfind("parm", 0) == 0) {
    return {degrees(scenario, 1, 1)};
  }
  for (const int degree : {1, 2, 3, 4, 8}) {
    all.push_back(degrees(scenario, degree, degree));
  }
  if (schedule.rfind("fsmoe", 0) == 0) {
    all.push_back(degrees(scenario, 2, 3));
    all.push_back(degrees(scenario, 4, 1));
  }
  return all;
}

class EqualityTest : public ::testing::TestWithParam<std::string> {};

TEST_P(EqualityTest, DegreesLayoutsAndRoutings) {
  for (const Layout& layout : kLayouts) {
    if (GetParam() == "parm_baseline" && layout.parallel.mp != layout.parallel.esp) {
      continue;
    }
    for (const Load load : {Load::kBalanced, Load::kSkewed, Load::kDrops}) {
      const Scenario scenario = scenario_of(layout.parallel, load);
      for (const Degrees& chosen : degrees_to_try(GetParam(), scenario)) {
        SCOPED_TRACE(::testing::Message() << layout.name << ", load " << static_cast<int>(load)
                                          << ", degrees " << chosen.forward.front() << " and "
                                          << chosen.backward.front() << ", " << chosen.non_moe);
        const Program program = build_schedule(GetParam(), scenario, chosen, unit_evaluator());
        const auto run = testing::run_both(program, program, scenario, Rounding::kExact);
        EXPECT_EQ(testing::first_difference(run.actual, run.expected, 0), "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         EqualityTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
