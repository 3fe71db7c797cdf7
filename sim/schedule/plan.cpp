#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/schedule/degree_search.h"
#include "sim/schedule/degrees.h"
#include "sim/schedule/registry.h"
#include "sim/schedule/unit_evaluator.h"

namespace moesim {
namespace {

// A shared degree that is given for one pass holds for the other.
DegreeConfig shared(const ScheduleDefinition& definition, const Scenario& scenario) {
  DegreeConfig given = scenario.degrees;
  if (!is_given(given.backward, given.backward_per_layer)) {
    given.backward = given.forward;
    given.backward_per_layer = given.forward_per_layer;
  } else if (!is_given(given.forward, given.forward_per_layer)) {
    given.forward = given.backward;
    given.forward_per_layer = given.backward_per_layer;
  }
  const Degrees one = Degrees::uniform(scenario.model.layers, 1, 1);
  const Degrees result = with_given(one, given);
  if (result.forward != result.backward) {
    throw Error(given.location,
                fmt::format("{} has one degree for both passes; give the same degree forward and "
                            "backward",
                            definition.name));
  }
  return given;
}

bool all_given(DegreeChoice choice, const DegreeConfig& given) {
  const bool passes = is_given(given.forward, given.forward_per_layer) &&
                      is_given(given.backward, given.backward_per_layer);
  return passes && (choice != DegreeChoice::kSequence || given.non_moe);
}

// What the scenario gives of the degrees that the schedule has.
DegreeConfig usable_degrees(const ScheduleDefinition& definition, const Scenario& scenario) {
  DegreeConfig given = definition.choice == DegreeChoice::kSeparate ? scenario.degrees
                                                                    : shared(definition, scenario);
  if (definition.choice != DegreeChoice::kSequence) {
    given.non_moe.reset();
  }
  return given;
}

Plan plan_with(const ScheduleDefinition& definition,
               const RoutedScenario& scenario,
               const Degrees& degrees,
               const Evaluator& evaluator,
               const char* policy) {
  Program program = definition.build(scenario, degrees, evaluator);
  const Degrees built = built_degrees(program, degrees);
  return {std::move(program), built, policy, "", {}};
}

// Those that are given, and some for the others.
Degrees some_degrees(const ScheduleDefinition& definition, const Scenario& scenario) {
  const Degrees one = Degrees::uniform(scenario.model.layers, 1, 1);
  switch (definition.choice) {
    case DegreeChoice::kFixed:
      return one;
    case DegreeChoice::kSequence:
      return sequence_degrees(scenario, usable_degrees(definition, scenario)).front();
    default:
      return with_given(one, usable_degrees(definition, scenario));
  }
}

}  // namespace

void require_plannable(const std::string& schedule, const Scenario& scenario) {
  const ScheduleDefinition& definition = find_definition(schedule);
  const RoutedScenario routed(scenario);
  definition.build(routed, some_degrees(definition, scenario), unit_evaluator());
}

Plan plan_schedule(const std::string& schedule,
                   const Scenario& scenario,
                   Policy policy,
                   const Evaluator& evaluator) {
  const ScheduleDefinition& definition = find_definition(schedule);
  const RoutedScenario routed(scenario);
  if (definition.plan) {
    return definition.plan(routed, policy, evaluator);
  }
  const Degrees one = Degrees::uniform(scenario.model.layers, 1, 1);
  if (definition.choice == DegreeChoice::kFixed) {
    return {definition.build(routed, one, evaluator), one, "none", "", {}};
  }
  const DegreeConfig given = usable_degrees(definition, scenario);
  if (all_given(definition.choice, given)) {
    return plan_with(definition, routed, with_given(one, given), evaluator, "given");
  }
  if (policy == Policy::kPaper && definition.paper) {
    const Degrees degrees = with_given(definition.paper(routed, evaluator), given);
    Plan plan = plan_with(definition, routed, degrees, evaluator, "paper");
    if (evaluator.fits(plan.program)) {  // else the search finds degrees that fit, if any do
      return plan;
    }
  }
  return search_degrees(definition, routed, given, evaluator);
}

}  // namespace moesim
