#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/schedule/degree_search.h"
#include "sim/schedule/registry.h"

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

// The variant that its rule prefers; the other one where only that fits the memory.
Plan plan_parm(const Scenario& scenario, Policy policy, const Evaluator& evaluator) {
  ParmChoice choice = choose_parm(scenario, policy, evaluator);
  const Degrees degrees = Degrees::uniform(scenario.model.layers, 1, 1);
  const auto build = [&](const std::string& variant) {
    return find_definition(variant).build(scenario, degrees, evaluator);
  };
  Program program = build(choice.variant);
  if (!evaluator.fits(program)) {
    Program other = build(choice.other);
    if (evaluator.fits(other)) {
      std::swap(choice.variant, choice.other);
      std::swap(choice.time, choice.other_time);
      program = std::move(other);
    }
  }
  return {std::move(program),
          degrees,
          policy == Policy::kPaper ? "paper" : "search",
          choice.variant,
          Candidate{degrees, choice.other, choice.other_time}};
}

// The authors' degrees, unless they do not fit the memory.
std::optional<Plan> plan_by_paper(const ScheduleDefinition& definition,
                                  const Scenario& scenario,
                                  const DegreeConfig& given,
                                  const Evaluator& evaluator) {
  if (!definition.paper) {
    return std::nullopt;
  }
  const Degrees degrees = with_given(definition.paper(scenario, evaluator), given);
  Program program = definition.build(scenario, degrees, evaluator);
  if (!evaluator.fits(program)) {
    return std::nullopt;
  }
  const Degrees built = built_degrees(program, degrees);
  return Plan{std::move(program), built, "paper", "", {}};
}

}  // namespace

Plan plan_schedule(const std::string& schedule,
                   const Scenario& scenario,
                   Policy policy,
                   const Evaluator& evaluator) {
  if (schedule == "parm") {
    return plan_parm(scenario, policy, evaluator);
  }
  const ScheduleDefinition& definition = find_definition(schedule);
  const Degrees one = Degrees::uniform(scenario.model.layers, 1, 1);
  if (definition.choice == DegreeChoice::kFixed) {
    return {definition.build(scenario, one, evaluator), one, "none", "", {}};
  }
  const bool separate = definition.choice == DegreeChoice::kSeparate;
  DegreeConfig given = separate ? scenario.degrees : shared(definition, scenario);
  if (definition.choice != DegreeChoice::kSequence) {
    given.non_moe.reset();
  }
  if (all_given(definition.choice, given)) {
    const Degrees degrees = with_given(one, given);
    Program program = definition.build(scenario, degrees, evaluator);
    const Degrees built = built_degrees(program, degrees);
    return {std::move(program), built, "given", "", {}};
  }
  if (policy == Policy::kPaper) {
    if (auto plan = plan_by_paper(definition, scenario, given, evaluator)) {
      return *std::move(plan);
    }
  }
  return search_degrees(definition, scenario, given, evaluator);
}

}  // namespace moesim
