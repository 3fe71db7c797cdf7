#include "tests/property/equality_model.h"

#include "sim/cli/validate/equality_cases.h"
#include "sim/schedule/unit_evaluator.h"

namespace moesim::testing {

Scenario equality_model() {
  Scenario scenario = validation::equality_scenario({.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1},
                                                    validation::Load::kDrops);
  scenario.model.sequence = 8;
  scenario.model.optimizer = OptimizerAlgorithm::kSgd;
  return scenario;
}

Scenario staged_model(const ParallelConfig& parallel) {
  Scenario scenario = validation::equality_scenario(parallel, validation::Load::kDrops);
  scenario.model.layers = 4;
  scenario.model.batch = 8;
  scenario.model.sequence = 8;
  scenario.pipeline = {4, StageOrder::kOneForwardOneBackward};
  return scenario;
}

Program two_chunks(const std::string& schedule, const Scenario& scenario) {
  const int non_moe = schedule == "sp_moe" ? 2 : 1;
  const Degrees degrees = Degrees::uniform(scenario.model.layers, 2, 2, non_moe);
  return build_schedule(schedule, scenario, degrees, unit_evaluator());
}

}  // namespace moesim::testing
