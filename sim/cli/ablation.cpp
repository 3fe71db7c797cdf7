#include "sim/cli/ablation.h"

#include <optional>
#include <string>
#include <utility>

#include "sim/cli/evaluator.h"
#include "sim/program/variation.h"

namespace moesim {
namespace {

AblatedEffect ablated(std::string effect, Time with, Time without) {
  return {.effect = std::move(effect),
          .iteration_seconds = without.seconds(),
          .cost_seconds = (with - without).seconds()};
}

Time without(const Subject& subject, Resolution resolution, const Ablation& effects) {
  return simulate(subject, {.resolution = resolution, .effects = effects, .keep_spans = false}).end;
}

// Of `parm` the schedule that it chose.
const std::string& built_schedule(const Subject& subject) {
  return subject.plan.variant.empty() ? subject.schedule : subject.plan.variant;
}

// The dense gradient reduced serially; what the schedule does anyway where it places no slots.
Time unpartitioned(Subject subject, Resolution resolution) {
  const Evaluator evaluator = make_evaluator(*subject.cluster, *subject.profile, resolution);
  std::optional<Program> serial = build_with_serial_gradient(
      built_schedule(subject), *subject.scenario, subject.plan.degrees, evaluator);
  if (serial) {
    subject.plan.program = std::move(*serial);
  }
  return without(subject, resolution, {});
}

Time balanced(Subject subject, Resolution resolution) {
  if (subject.scenario->routing.kind == RoutingKind::kBalanced) {
    return without(subject, resolution, {});
  }
  subject.scenario->routing = {};
  const Evaluator evaluator = make_evaluator(*subject.cluster, *subject.profile, resolution);
  subject.plan.program =
      build_schedule(built_schedule(subject), *subject.scenario, subject.plan.degrees, evaluator);
  return without(subject, resolution, {});
}

// All ranks at the profile's speed, without jitter.
Time steady(Subject subject, Resolution resolution) {
  subject.plan.program.rank_speed.clear();
  subject.plan.program.jitter.reset();
  return without(subject, resolution, {});
}

}  // namespace

std::vector<AblatedEffect> ablate(const Subject& subject, Resolution resolution, Time iteration) {
  std::vector<AblatedEffect> effects = {
      ablated(
          "launch_overhead", iteration, without(subject, resolution, {.launch_overhead = false})),
      ablated(
          "hardware_queues", iteration, without(subject, resolution, {.hardware_queues = false})),
      ablated("port_sharing", iteration, without(subject, resolution, {.port_sharing = false}))};
  if (varies(subject.program())) {
    effects.push_back(ablated("variation", iteration, steady(subject, resolution)));
  }
  if (subject.scenario) {
    effects.push_back(ablated("gradient_partition", iteration, unpartitioned(subject, resolution)));
    effects.push_back(ablated("skew", iteration, balanced(subject, resolution)));
  }
  return effects;
}

}  // namespace moesim
