#include "sim/cli/validate/unrounded_degrees.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/model/sizes.h"
#include "sim/schedule/closed_form.h"
#include "sim/schedule/schedule.h"

namespace moesim::validation {
namespace {

const CollectiveCost& cost_of(const Profile& profile, CollectiveOperation operation) {
  const auto found = std::find_if(
      profile.collectives.begin(), profile.collectives.end(), [operation](const auto& cost) {
        return cost.operation == operation;
      });
  CHECK(found != profile.collectives.end(), "profile '{}' lacks a collective", profile.name);
  return *found;
}

double seconds(const CollectiveCost& cost, double bytes) {
  return cost.startup_seconds + cost.seconds_per_byte * bytes;
}

// t_x(r) = alpha_x + (n_x / r) * beta_x; experts run n_gemm kernels, backward twice as many.
ChunkTimes chunk_times(const Scenario& scenario, const Profile& profile, int degree, int passes) {
  const ModelConfig& model = scenario.model;
  const LayerSizes sizes = layer_sizes(model, scenario.parallel);
  const double elements = model.top_k * model.capacity_factor.value_or(1) *
                          static_cast<double>(model.tokens()) * model.embedding / degree;
  const double bytes = elements * static_cast<double>(size_of(model.dtype));
  const double flops = 2 * elements * sizes.hidden_shard * sizes.num_expert_gemms;
  ChunkTimes times;
  times.a = seconds(cost_of(profile, CollectiveOperation::kAllToAll), bytes / scenario.parallel.mp);
  times.g = seconds(cost_of(profile, CollectiveOperation::kAllGather), bytes);
  times.s = seconds(cost_of(profile, CollectiveOperation::kReduceScatter), bytes);
  times.e = passes * (sizes.num_expert_gemms * profile.gemm->startup_seconds +
                      flops * profile.gemm->seconds_per_flop);
  return times;
}

int best_degree(const Scenario& scenario, const Profile& profile, int passes) {
  int best = 1;
  double least = fsmoe_bound(1, chunk_times(scenario, profile, 1, passes));
  for (int degree = 2; degree <= kMaxDegree; ++degree) {
    const double time = fsmoe_bound(degree, chunk_times(scenario, profile, degree, passes));
    if (time < least) {
      least = time;
      best = degree;
    }
  }
  return best;
}

}  // namespace

BestDegrees best_unrounded_degrees(const Scenario& scenario, const Profile& profile) {
  CHECK(profile.gemm.has_value());
  return {best_degree(scenario, profile, 1), best_degree(scenario, profile, 2)};
}

}  // namespace moesim::validation
