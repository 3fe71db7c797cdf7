#include "sim/cli/prediction.h"

#include "sim/cli/subject.h"
#include "sim/report/result.h"

namespace moesim {

Prediction predict(const Inputs& inputs, const std::string& schedule, const PlanOptions& plan) {
  const Subject subject = plan_subject(inputs, schedule, plan);
  require_verified(subject);
  const Trace trace = simulate(subject, {});
  const SimulationResult summary = make_summary(result_inputs(subject, trace));
  return {.iteration = trace.end,
          .forward_degree = summary.forward_degree,
          .backward_degree = summary.backward_degree,
          .non_moe_degree = summary.non_moe_degree,
          .variant = summary.variant,
          .peak_memory_bytes = summary.memory.peak_bytes,
          .fits = summary.fits};
}

}  // namespace moesim
