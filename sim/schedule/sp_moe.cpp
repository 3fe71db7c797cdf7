#include <numeric>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"

namespace moesim {
namespace {

constexpr PipelinePolicy kSpMoe{.route_beside_communication = true};

}  // namespace

std::optional<Error> sp_moe_problem(const Scenario& scenario, const Degrees& degrees) {
  const int non_moe = degrees.non_moe;
  const int moe = degrees.forward.front();
  if (degrees.forward != Degrees::uniform(scenario.model.layers, moe, moe).forward) {
    return Error(
        scenario.degrees.location,
        "sp_moe has one MoE degree for all layers; give degrees.forward instead of degrees "
        "per layer");
  }
  if (moe % non_moe != 0 && non_moe % moe != 0) {
    return Error(scenario.degrees.location,
                 fmt::format("sp_moe: of the degrees {} (MoE) and {} (non-MoE) neither divides the "
                             "other; choose one that is a multiple of the other",
                             moe,
                             non_moe));
  }
  if (non_moe > 1 && scenario.model.attention == AttentionMask::kFull) {
    return Error(scenario.path,
                 "sp_moe cannot cut full attention along the sequence; set model.attention to "
                 "CAUSAL or degrees.non_moe to 1");
  }
  const int mp = scenario.parallel.mp;
  const int step = mp / std::gcd(scenario.stage_model().batch, mp);
  if (scenario.model.sequence / step < non_moe) {
    return Error(scenario.path,
                 fmt::format("sp_moe cannot cut {} positions into {} chunks of a multiple of {}; "
                             "lower degrees.non_moe",
                             scenario.model.sequence,
                             non_moe,
                             step));
  }
  return std::nullopt;
}

// SP-MoE (INFOCOM'25): causal chunks of the sequence pass through attention and MoE one behind the
// other; backward runs them in reverse. Two streams, the gradient not overlapped (assumed).
ScheduleDefinition sp_moe() {
  ScheduleDefinition definition;
  definition.name = "sp_moe";
  definition.choice = DegreeChoice::kSequence;
  definition.build = [](const RoutedScenario& scenario, const Degrees& degrees, const Evaluator&) {
    if (const std::optional<Error> problem = sp_moe_problem(scenario, degrees)) {
      throw Error(*problem);
    }
    return Pipeline(scenario, "sp_moe", kSpMoe, degrees, serial_gradient(scenario)).build();
  };
  return definition;
}

}  // namespace moesim
