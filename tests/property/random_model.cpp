#include "tests/property/random_model.h"

#include <array>

#include "sim/cli/validate/equality_cases.h"

namespace moesim::testing {
namespace {

bool draw(Random& random) {
  return random.uniform_int(0, 1) == 1;
}

int draw_below(Random& random, size_t count) {
  return static_cast<int>(random.uniform_int(0, static_cast<int64_t>(count) - 1));
}

void draw_routing(Scenario& scenario, Random& random) {
  switch (draw_below(random, 3)) {
    case 0:
      return;  // balanced
    case 1:
      scenario.routing.kind = RoutingKind::kZipf;
      scenario.routing.zipf_exponent = random.uniform(0.5, 1.5);
      return;
    default:
      scenario.routing.kind = RoutingKind::kGiven;
      for (int rank = 0; rank < scenario.parallel.world(); ++rank) {
        std::vector<int>& tokens = scenario.routing.tokens.emplace_back();
        for (int expert = 0; expert < scenario.model.experts; ++expert) {
          tokens.push_back(static_cast<int>(random.uniform_int(1, 20)));
        }
      }
  }
}

}  // namespace

Scenario random_scenario(const std::string& schedule, Random& random) {
  const std::vector<ParallelConfig> layouts = validation::layouts_to_try(schedule);
  const ParallelConfig& parallel = layouts[static_cast<size_t>(draw_below(random, layouts.size()))];
  Scenario scenario = validation::equality_scenario(parallel, validation::Load::kBalanced);
  ModelConfig& model = scenario.model;
  scenario.seed = random.next();
  model.gate = std::array{GateKind::kGshard,
                          GateKind::kSigmoid,
                          GateKind::kXmoe,
                          GateKind::kExpertChoice}[static_cast<size_t>(draw_below(random, 4))];
  model.feed_forward = draw(random) ? FeedForward::kSwiglu : FeedForward::kSimple;
  model.attention = draw(random) ? AttentionMask::kCausal : AttentionMask::kFull;
  model.recompute = std::array{Recompute::kNothing,
                               Recompute::kSelective,
                               Recompute::kFull}[static_cast<size_t>(draw_below(random, 3))];
  model.layers = 1 + draw_below(random, 2);
  model.embedding = 8 * (1 + draw_below(random, 2));
  model.hidden = 8 * (1 + draw_below(random, 2));
  model.kv_heads = parallel.mp < 4 && draw(random) ? 2 : 4;
  model.top_k = 1 + draw_below(random, 3);
  model.pad_capacity = draw(random);
  if (draw(random)) {
    model.capacity_factor = random.uniform(0.5, 1.5);
  }
  if (draw(random)) {
    model.optimizer = draw(random) ? OptimizerAlgorithm::kAdam : OptimizerAlgorithm::kSgd;
  }
  model.dtype = draw(random) ? DataType::kBf16 : DataType::kFp32;
  draw_routing(scenario, random);
  return scenario;
}

Degrees random_degrees(const std::string& schedule, const Scenario& scenario, Random& random) {
  const std::vector<Degrees> all = validation::degrees_to_try(schedule, scenario);
  return all[static_cast<size_t>(draw_below(random, all.size()))];
}

}  // namespace moesim::testing
