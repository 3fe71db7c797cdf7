#include "sim/cli/validate/fsmoe_grid.h"

#include "sim/base/check.h"
#include "sim/model/sizes.h"

namespace moesim::validation {

std::vector<GridPoint> fsmoe_grid(const std::vector<int>& sequences) {
  std::vector<GridPoint> points;
  const std::optional<double> factors[] = {1.2, 2.4, std::nullopt};
  for (const int batch : {1, 2, 4}) {
    for (const int sequence : sequences) {
      for (const int embedding : {1024, 2048, 4096}) {
        for (const int hidden_ratio : {2, 3, 4}) {
          for (const std::optional<double>& factor : factors) {
            for (const FeedForward kind : {FeedForward::kSimple, FeedForward::kSwiglu}) {
              points.push_back({batch, sequence, embedding, hidden_ratio, factor, kind});
            }
          }
        }
      }
    }
  }
  return points;
}

Scenario scenario_at(const GridPoint& point, const Inputs& testbed) {
  Scenario scenario = testbed.scenario;
  ModelConfig& model = scenario.model;
  model.batch = point.batch;
  model.sequence = point.sequence;
  model.embedding = point.embedding;
  model.hidden = point.hidden_ratio * point.embedding;
  model.heads = 32;
  model.kv_heads = point.feed_forward == FeedForward::kSwiglu ? 8 : 32;
  model.experts = testbed.cluster.num_nodes;
  model.top_k = 2;
  model.capacity_factor = point.capacity_factor;
  model.feed_forward = point.feed_forward;
  model.attention = AttentionMask::kFull;
  model.optimizer.reset();
  model.recompute = Recompute::kNothing;
  scenario.degrees = {};
  return scenario;
}

std::vector<FixedKind> published_costs(const Scenario& scenario, const Profile& profile) {
  CHECK(profile.gemm.has_value());
  const double tokens = static_cast<double>(scenario.model.tokens());
  const double embedding = scenario.model.embedding;
  const double multiply_adds =
      (4 * tokens * embedding * embedding + 2 * tokens * scenario.model.sequence * embedding) /
      scenario.parallel.mp;
  constexpr int kKernels = 4;
  const Time attention = Time::from_seconds(kKernels * profile.gemm->startup_seconds +
                                            2 * multiply_adds * profile.gemm->seconds_per_flop);
  return {{"attention", attention, 2 * attention},
          {"gate", {}, {}},
          {"order", {}, {}},
          {"unorder", {}, {}},
          {"loss", {}, {}}};
}

double rounding_of(const Scenario& scenario) {
  const ModelConfig& model = scenario.model;
  const int rows = static_cast<int>(model.tokens()) / scenario.parallel.mp;
  const double exact = model.top_k * model.capacity_factor.value_or(1) * rows / model.experts;
  return capacity_rows(model, rows) / exact - 1;
}

}  // namespace moesim::validation
