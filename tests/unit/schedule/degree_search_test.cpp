// What a search costs: Programs built and routings drawn.

#include "sim/schedule/degree_search.h"

#include <gtest/gtest.h>

#include "sim/schedule/degrees.h"
#include "sim/schedule/registry.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::small_scenario;

// The schedule's definition, which counts the Programs that it builds.
ScheduleDefinition counting(const std::string& schedule, int& num_built) {
  ScheduleDefinition definition = find_definition(schedule);
  definition.build = [&num_built, build = definition.build](const RoutedScenario& scenario,
                                                            const Degrees& degrees,
                                                            const Evaluator& evaluator) {
    ++num_built;
    return build(scenario, degrees, evaluator);
  };
  return definition;
}

TEST(DegreeSearchTest, BuildsEachCandidateOnce) {
  // More chunks are more tasks, which the unit evaluator takes for time: the first is the fastest.
  const RoutedScenario scenario(small_scenario());
  for (const char* schedule : {"tutel", "pipemoe", "lina"}) {
    int num_built = 0;
    search_degrees(counting(schedule, num_built), scenario, {}, unit_evaluator());
    EXPECT_EQ(num_built, kMaxDegree) << schedule;
  }
}

TEST(DegreeSearchTest, BuildsAnewOnlyWhatIsTakenBecauseTheFastestDoesNotFit) {
  const RoutedScenario scenario(small_scenario());
  Evaluator evaluator = unit_evaluator();
  int num_asked = 0;
  evaluator.fits = [&num_asked](const Program&) { return ++num_asked == 3; };
  int num_built = 0;
  const Plan plan = search_degrees(counting("tutel", num_built), scenario, {}, evaluator);
  EXPECT_EQ(plan.degrees.forward.front(), 3);
  EXPECT_EQ(num_built, kMaxDegree + 2);
}

// What the search relies on: degrees that cut buffers of five rows alike are the same candidate.
TEST(DegreeSearchTest, AProgramIsKnownByTheDegreesItIsBuiltWith) {
  const Scenario scenario = small_scenario();
  for (const std::string& schedule : schedule_names()) {
    const bool cuts_sequence = find_definition(schedule).choice == DegreeChoice::kSequence;
    for (int moe = 1; moe <= kMaxDegree; ++moe) {
      for (int non_moe = 1; non_moe <= (cuts_sequence ? kMaxDegree : 1); ++non_moe) {
        const Degrees asked = testing::degrees(scenario, moe, moe, non_moe);
        if (!cuts_sequence || !sp_moe_problem(scenario, asked)) {
          const Program program = build_schedule(schedule, scenario, asked, unit_evaluator());
          const Degrees built = built_degrees(program, asked);
          EXPECT_EQ(program_to_json(program),
                    program_to_json(build_schedule(schedule, scenario, built, unit_evaluator())))
              << schedule << ' ' << moe << ' ' << non_moe;
        }
      }
    }
  }
}

// The same object, not one that is equal.
TEST(RoutedScenarioTest, DrawsARoutingOnceForAllCopies) {
  Scenario skewed = small_scenario();
  skewed.routing.kind = RoutingKind::kZipf;
  skewed.routing.zipf_exponent = 1;
  const RoutedScenario scenario(skewed);
  RoutedScenario one_layer = scenario;
  one_layer.model.layers = 1;
  const DomainRouting& drawn = scenario.domain_routing({8, 1});
  EXPECT_EQ(&one_layer.domain_routing({8, 1}), &drawn);
  EXPECT_EQ(drawn.tokens, make_routing(skewed, {8, 1}));
  EXPECT_EQ(drawn.largest_count, largest_count(drawn.tokens));
  // Eight rows that two ranks read alike are another routing.
  EXPECT_NE(&scenario.domain_routing({8, 2}), &drawn);
}

TEST(RoutedScenarioTest, BalancedRoutingIsNone) {
  EXPECT_TRUE(RoutedScenario(small_scenario()).domain_routing({8, 1}).tokens.empty());
}

}  // namespace
}  // namespace moesim
