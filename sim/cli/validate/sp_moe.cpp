#include <array>

#include <fmt/format.h>

#include "sim/cli/validate/axis.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/layer_time.h"
#include "sim/cli/validate/range.h"
#include "sim/cli/validate/sections.h"
#include "sim/cli/validate/study_layer.h"

namespace moesim::validation {
namespace {

constexpr std::array kSystems{"tutel", "pipemoe", "fsmoe"};

struct SpMoePoint : StudyLayer {
  const Inputs* testbed = nullptr;
  int shards = 0;  // N_MP = N_ESP
};

constexpr std::array<std::optional<double>, 2> kFactors{1.2, std::nullopt};
constexpr std::array kHiddenRatios{2, 4};
constexpr std::array kEmbeddings{1024, 2048};
constexpr std::array kSequences{1024, 2048, 4096};
constexpr std::array kBatches{1, 2, 4};

std::vector<SpMoePoint> make_points(const Inputs& testbed, int shards) {
  return grid_points<SpMoePoint>([&testbed, shards](SpMoePoint& point, int& number) {
    point.testbed = &testbed;
    point.shards = shards;
    point.capacity_factor = take(number, kFactors);
    point.hidden_ratio = take(number, kHiddenRatios);
    point.embedding = take(number, kEmbeddings);
    point.sequence = take(number, kSequences);
    point.batch = take(number, kBatches);
  });
}

Scenario scenario_at(const SpMoePoint& point) {
  Scenario scenario = point.testbed->scenario;
  const int experts = point.testbed->cluster.num_gpus() / point.shards;
  scenario.parallel = {.mp = point.shards, .dp = experts, .esp = point.shards, .ep = experts};
  set_layer(point, experts, scenario);
  scenario.model.attention = AttentionMask::kCausal;
  return scenario;
}

// 1 - T(sp_moe) / T(system), by system.
using Reductions = std::array<double, kSystems.size()>;

Reductions simulate_point(const SpMoePoint& point) {
  const Scenario scenario = scenario_at(point);
  const Evaluator evaluator =
      fixed_kinds_evaluator(point.testbed->cluster, point.testbed->profile, {});
  const Time sp_moe = searched_layer_time("sp_moe", scenario, evaluator);
  Reductions reductions{};
  for (std::size_t i = 0; i < kSystems.size(); ++i) {
    reductions[i] = 1 - ratio(sp_moe, searched_layer_time(kSystems[i], scenario, evaluator));
  }
  return reductions;
}

}  // namespace

Finding study_sp_moe(const SpMoeStudy& study) {
  struct Testbed {
    const char* name;
    const Inputs* inputs;
  };
  const std::array testbeds{Testbed{"A", &study.testbed_a}, Testbed{"B", &study.testbed_b}};
  SectionWriter writer;
  writer.say(
      "How much less time a layer takes under `sp_moe` than under three MoE systems; published "
      "16.1 to 34.3 % on two clusters. Neither the published grid nor the systems' names are "
      "available; both are assumed here: N_MP = N_ESP {1, GPUs per node} x B {1, 2, 4} x L {1024, "
      "2048, 4096} x M {1024, 2048} x H/M {2, 4} x f {1.2, no drop}, k = 2, E = N_EP, simple "
      "feed-forward layers, causal attention counted alike for all, forward and backward, all "
      "degrees 1..8 searched.");
  Table table({"Testbed", "N_MP", "less than", "layers", "least", "mean", "largest"});
  for (const Testbed& testbed : testbeds) {
    for (const int shards : {1, testbed.inputs->cluster.gpus_per_node}) {
      const std::vector<SpMoePoint> points = make_points(*testbed.inputs, shards);
      const WorkerRun run{fmt::format("layers on testbed {}", testbed.name),
                          static_cast<int>(points.size()),
                          study.num_workers};
      const auto reductions = records_in_workers<Reductions>(
          run, [&](int index) { return simulate_point(points[static_cast<std::size_t>(index)]); });
      for (std::size_t system = 0; system < kSystems.size(); ++system) {
        Range range;
        for (const Reductions& reduction : reductions) {
          range.add(100 * reduction[system]);
        }
        table.add({testbed.name,
                   fmt::format("{}", shards),
                   fmt::format("`{}`", kSystems[system]),
                   fmt::format("{}", range.count()),
                   fmt::format("{:.1f} %", range.least()),
                   fmt::format("{:.1f} %", range.mean()),
                   fmt::format("{:.1f} %", range.largest())});
      }
    }
  }
  writer.add(table);
  writer.say(
      "Standing: *rests on assumptions*, held to no bar. A negative reduction is a longer time: "
      "`fsmoe` overlaps communication within and between nodes, which `sp_moe` as it is assumed "
      "here does not.");
  return std::move(writer).finish();
}

}  // namespace moesim::validation
