#include "sim/cli/validate/fsmoe_grid.h"

#include "sim/base/check.h"
#include "sim/cli/validate/axis.h"
#include "sim/model/sizes.h"
#include "sim/schedule/task_kinds.h"

namespace moesim::validation {

namespace {

constexpr std::array kFeedForward{FeedForward::kSimple, FeedForward::kSwiglu};
constexpr std::array<std::optional<double>, 3> kFactors{1.2, 2.4, std::nullopt};
constexpr std::array kHiddenRatios{2, 3, 4};
constexpr std::array kEmbeddings{1024, 2048, 4096};
constexpr std::array kBatches{1, 2, 4};

}  // namespace

std::vector<GridPoint> fsmoe_grid(const std::array<int, 3>& sequences) {
  return grid_points<GridPoint>([&sequences](GridPoint& point, int& number) {
    point.feed_forward = take(number, kFeedForward);
    point.capacity_factor = take(number, kFactors);
    point.hidden_ratio = take(number, kHiddenRatios);
    point.embedding = take(number, kEmbeddings);
    point.sequence = take(number, sequences);
    point.batch = take(number, kBatches);
  });
}

Scenario scenario_at(const GridPoint& point, const Inputs& testbed) {
  Scenario scenario = testbed.scenario;
  set_layer(point, testbed.cluster.num_nodes, scenario);
  scenario.model.feed_forward = point.feed_forward;
  if (point.feed_forward == FeedForward::kSwiglu) {
    scenario.model.kv_heads = 8;
  }
  return scenario;
}

std::vector<FixedKind> published_costs(const Scenario& scenario, const Profile& profile) {
  CHECK(profile.gemm.has_value());
  const auto tokens = static_cast<double>(scenario.model.tokens());
  const double embedding = scenario.model.embedding;
  const double multiply_adds =
      (4 * tokens * embedding * embedding + 2 * tokens * scenario.model.sequence * embedding) /
      scenario.parallel.mp;
  constexpr int kKernels = 4;
  const Time attention = Time::from_seconds(kKernels * profile.gemm->startup_seconds +
                                            2 * multiply_adds * profile.gemm->seconds_per_flop);
  return {{task_kind::kAttention, attention, 2 * attention},
          {task_kind::kGate, {}, {}},
          {task_kind::kOrder, {}, {}},
          {task_kind::kUnorder, {}, {}},
          {task_kind::kLoss, {}, {}}};
}

double rounding_of(const Scenario& scenario) {
  const ModelConfig& model = scenario.model;
  const int rows = static_cast<int>(model.tokens()) / scenario.parallel.mp;
  const double exact = model.top_k * model.capacity_factor.value_or(1) * rows / model.experts;
  return capacity_rows(model, rows) / exact - 1;
}

}  // namespace moesim::validation
