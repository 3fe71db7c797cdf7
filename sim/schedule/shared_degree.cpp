#include "sim/schedule/shared_degree.h"

#include <limits>

#include "sim/schedule/closed_form.h"

namespace moesim {
namespace {

double first(const std::vector<double>& times) {
  return times.empty() ? 0 : times.front();
}

}  // namespace

ChunkTimes chunk_times(const RegionTimes& times) {
  return {.a = first(times.dispatch),
          .g = first(times.gather),
          .s = first(times.scatter),
          .e = first(times.expert),
          .gar = 0};
}

Degrees pipemoe_degree(const RoutedScenario& scenario,
                       const PipelinePolicy& policy,
                       const Evaluator& evaluator) {
  const LayerProbe probe(scenario, policy, evaluator);
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int r = 1; r <= kMaxDegree; ++r) {
    const LayerTimes times = probe.times(r, r);
    const double seconds =
        pipemoe_time(r, chunk_times(times.forward)) + pipemoe_time(r, chunk_times(times.backward));
    if (seconds < least) {
      least = seconds;
      best = r;
    }
  }
  return Degrees::uniform(scenario.model.layers, best, best);
}

}  // namespace moesim
