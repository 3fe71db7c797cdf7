#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "sim/schedule/definitions.h"
#include "sim/schedule/parm_variants.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

using BuildFlow = Program (*)(const RoutedScenario&);

ScheduleDefinition define(const char* name, BuildFlow build) {
  ScheduleDefinition definition;
  definition.name = name;
  definition.build = [build](const RoutedScenario& scenario, const Degrees&, const Evaluator&) {
    return build(scenario);
  };
  return definition;
}

// Parm's closed forms for one layer's forward communication, with S2's second AlltoAll and its
// AllGather step by step as in the authors' public code (INFOCOM'24; docs/model.md says what is
// assumed):
// t_S1 = 2*A2A + AG_MP; t_S2 = A2A + sum over steps of max(a2a_step, ag_step) + ag_step.
Time closed_form(const RoutedScenario& scenario, BuildFlow build, const Evaluator& evaluator) {
  const Program program = build(scenario.one_layer());
  const std::vector<Time> durations = evaluator.durations(program);
  Time total;
  std::map<int, Time> shifts;
  std::map<int, Time> gathers;
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    if (task.pass != Pass::kForward || task.layer != 0) {
      continue;
    }
    if (task.kind == task_kind::kDispatch) {
      total += durations[i];
    } else if (task.kind == task_kind::kCombine) {
      shifts[task.chunk] = durations[i];
    } else if (task.kind == task_kind::kMpAllGather) {
      gathers[task.chunk] = durations[i];
    }
  }
  Time last_gather;
  for (const auto& [step, shift] : shifts) {
    total += std::max(shift, last_gather);
    last_gather = gathers.contains(step) ? gathers[step] : Time::zero();
  }
  return total + last_gather;
}

struct Variant {
  std::string name;
  Program program;
  Time time;
};

// Parm's rule: evaluate S1 and S2 and take the smaller, which stands first here; `paper` by the
// closed forms.
std::array<Variant, 2> rank_variants(const RoutedScenario& scenario,
                                     Policy policy,
                                     const Evaluator& evaluator) {
  const auto evaluate = [&](const char* name, BuildFlow build) {
    Program program = build(scenario);
    const Time time = policy == Policy::kPaper ? closed_form(scenario, build, evaluator)
                                               : evaluator.evaluate(program).total;
    return Variant{name, std::move(program), time};
  };
  std::array variants{evaluate("parm_s1", build_parm_s1), evaluate("parm_s2", build_parm_s2)};
  if (variants[1].time < variants[0].time) {
    std::swap(variants[0], variants[1]);
  }
  return variants;
}

// The variant that the rule prefers; the other one where only that fits the memory.
Plan plan_parm(const RoutedScenario& scenario, Policy policy, const Evaluator& evaluator) {
  auto [taken, other] = rank_variants(scenario, policy, evaluator);
  if (!evaluator.fits(taken.program) && evaluator.fits(other.program)) {
    std::swap(taken, other);
  }
  const Degrees degrees = Degrees::uniform(scenario.model.layers, 1, 1);
  return {std::move(taken.program),
          degrees,
          policy == Policy::kPaper ? "paper" : "search",
          taken.name,
          Candidate{degrees, other.name, other.time}};
}

}  // namespace

ScheduleDefinition parm_baseline() {
  return define("parm_baseline", build_parm_baseline);
}

ScheduleDefinition parm_s1() {
  return define("parm_s1", build_parm_s1);
}

ScheduleDefinition parm_s2() {
  return define("parm_s2", build_parm_s2);
}

ScheduleDefinition parm() {
  ScheduleDefinition definition;
  definition.name = "parm";
  definition.build =
      [](const RoutedScenario& scenario, const Degrees&, const Evaluator& evaluator) {
        return std::move(rank_variants(scenario, Policy::kSearch, evaluator)[0].program);
      };
  definition.plan = plan_parm;
  return definition;
}

}  // namespace moesim
