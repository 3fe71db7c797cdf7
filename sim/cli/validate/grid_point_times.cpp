#include "sim/cli/validate/grid_point_times.h"

#include <utility>

#include "sim/schedule/region_model.h"

namespace moesim::validation {
namespace {

// The degree whose region is fastest; of equal ones the smallest.
int best_degree(const LayerProbe& probe, Pass pass) {
  int best = 1;
  Time least = Time::max();
  for (int degree = 1; degree <= kMaxDegree; ++degree) {
    const LayerTimes times = probe.times(degree, degree);
    const RegionTimes& region = pass == Pass::kForward ? times.forward : times.backward;
    const Time time = Time::from_seconds(region_seconds(region, 0, true));
    if (time < least) {
      least = time;
      best = degree;
    }
  }
  return best;
}

}  // namespace

GridPointTimes simulate_point(const GridPoint& point, const Inputs& testbed) {
  const Scenario scenario = scenario_at(point, testbed);
  Profile profile = testbed.profile;
  profile.memory_bytes_per_second.reset();  // what the paper's cost model leaves out
  const std::vector<FixedKind> costs = published_costs(scenario, profile);

  GridPointTimes times;
  times.rounding = rounding_of(scenario);
  for (std::size_t run = 0; run < kGridRuns.size(); ++run) {
    profile.hardware_queues = kGridRuns[run].hardware_queues;
    const Evaluator evaluator = fixed_kinds_evaluator(testbed.cluster, profile, costs);
    const auto& layer_time =
        kGridRuns[run].policy == Policy::kSearch ? searched_layer_time : paper_layer_time;
    times.seconds[run] = layer_time(kGridRuns[run].schedule, scenario, evaluator).seconds();
  }
  const Evaluator evaluator = fixed_kinds_evaluator(testbed.cluster, profile, costs);
  const LayerProbe probe(scenario, {.overlap_intra_with_inter = true}, evaluator);
  times.forward_degree = best_degree(probe, Pass::kForward);
  times.backward_degree = best_degree(probe, Pass::kBackward);
  return times;
}

}  // namespace moesim::validation
