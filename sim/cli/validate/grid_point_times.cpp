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

// The testbed's figures without those that the paper's cost model leaves out.
Profile profile_of(const Inputs& testbed) {
  Profile profile = testbed.profile;
  profile.memory_bytes_per_second.reset();
  return profile;
}

}  // namespace

double layer_seconds(const GridRun& run, const GridPoint& point, const Inputs& testbed) {
  const Scenario scenario = scenario_at(point, testbed);
  Profile profile = profile_of(testbed);
  profile.hardware_queues = run.hardware_queues;
  const Evaluator evaluator =
      fixed_kinds_evaluator(testbed.cluster, profile, published_costs(scenario, profile));
  const Time time = run.policy == Policy::kSearch
                        ? searched_layer_time(run.schedule, scenario, evaluator)
                        : paper_layer_time(run.schedule, scenario, evaluator);
  return time.seconds();
}

GridPointTimes simulate_point(const GridPoint& point, const Inputs& testbed) {
  const Scenario scenario = scenario_at(point, testbed);
  const Profile profile = profile_of(testbed);
  const Evaluator evaluator =
      fixed_kinds_evaluator(testbed.cluster, profile, published_costs(scenario, profile));
  const LayerProbe probe(RoutedScenario(scenario), {.overlap_intra_with_inter = true}, evaluator);
  GridPointTimes times;
  for (std::size_t run = 0; run < kGridRuns.size(); ++run) {
    times.seconds[run] = layer_seconds(kGridRuns[run], point, testbed);
  }
  times.forward_degree = best_degree(probe, Pass::kForward);
  times.backward_degree = best_degree(probe, Pass::kBackward);
  times.rounding = rounding_of(scenario);
  return times;
}

}  // namespace moesim::validation
