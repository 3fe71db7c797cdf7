#include <algorithm>
#include <map>
#include <string>

#include "sim/schedule/definitions.h"
#include "sim/schedule/parm_variants.h"

namespace moesim {
namespace {

ScheduleDefinition define(const char* name, Program (*build)(const Scenario&)) {
  ScheduleDefinition definition;
  definition.name = name;
  definition.build = [build](const Scenario& scenario, const Degrees&, const Evaluator&) {
    return build(scenario);
  };
  return definition;
}

// Parm's closed forms for one layer's forward communication (arXiv 2407.00599):
// t_S1 = 2*A2A + AG_MP; t_S2 = A2A + sum over steps of max(a2a_step, ag_step) + ag_step.
Time closed_form(Scenario scenario, Program (*build)(const Scenario&), const Evaluator& evaluator) {
  scenario.model.layers = 1;
  const Program program = build(scenario);
  const std::vector<Time> durations = evaluator.durations(program);
  Time total;
  std::map<int, Time> shifts;
  std::map<int, Time> gathers;
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    if (task.pass != Pass::kForward) {
      continue;
    }
    if (task.kind == "dispatch") {
      total += durations[i];
    } else if (task.kind == "combine") {
      shifts[task.chunk] = durations[i];
    } else if (task.kind == "mp_all_gather") {
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

ParmChoice choose_parm(const Scenario& scenario, Policy policy, const Evaluator& evaluator) {
  const auto time_of = [&](Program (*build)(const Scenario&)) {
    return policy == Policy::kPaper ? closed_form(scenario, build, evaluator)
                                    : evaluator.evaluate(build(scenario)).total;
  };
  ParmChoice choice{"parm_s1", "parm_s2", time_of(build_parm_s1), time_of(build_parm_s2)};
  if (choice.other_time < choice.time) {
    std::swap(choice.variant, choice.other);
    std::swap(choice.time, choice.other_time);
  }
  return choice;
}

}  // namespace moesim
