#include "tests/property/equality_cases.h"

#include <fmt/format.h>

#include "tests/unit/schedule/small_scenario.h"

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

const char* to_string(Load load) {
  constexpr const char* kNames[] = {"balanced", "skewed", "drops"};
  return kNames[static_cast<size_t>(load)];
}

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"4 ranks, mp = esp = 2", {.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1}},
      {"4 ranks, mp 1, esp 2", {.mp = 1, .dp = 4, .esp = 2, .ep = 2, .edp = 1}},
      {"4 ranks, mp 2, esp 1, edp 2", {.mp = 2, .dp = 2, .esp = 1, .ep = 2, .edp = 2}},
      {"4 ranks, mp = esp = 1", {.mp = 1, .dp = 4, .esp = 1, .ep = 4, .edp = 1}},
      {"8 ranks, mp = esp = 2", {.mp = 2, .dp = 4, .esp = 2, .ep = 4, .edp = 1}},
      {"8 ranks, mp = esp = 4", {.mp = 4, .dp = 2, .esp = 4, .ep = 2, .edp = 1}},
      {"8 ranks, mp = esp = 2, edp 2", {.mp = 2, .dp = 4, .esp = 2, .ep = 2, .edp = 2}},
      {"8 ranks, mp 4, esp 2", {.mp = 4, .dp = 2, .esp = 2, .ep = 4, .edp = 1}},
      {"8 ranks, mp 2, esp 1", {.mp = 2, .dp = 4, .esp = 1, .ep = 8, .edp = 1}},
  };
  return all;
}

Scenario equality_scenario(const ParallelConfig& parallel, Load load) {
  Scenario scenario = small_scenario();
  scenario.parallel = parallel;
  scenario.model.experts = parallel.ep == 8 ? 8 : 4;
  scenario.model.sequence = 24;
  scenario.model.kv_heads = 4;
  scenario.model.capacity_factor.reset();
  if (load == Load::kSkewed) {
    scenario.routing.kind = RoutingKind::kZipf;
    scenario.routing.zipf_exponent = 1;
  } else if (load == Load::kDrops) {
    scenario.model.capacity_factor = 0.75;
  }
  return scenario;
}

bool can_run(const std::string& schedule, const ParallelConfig& parallel) {
  return schedule != "parm_baseline" || parallel.mp == parallel.esp;
}

std::vector<Degrees> degrees_to_try(const std::string& schedule, const Scenario& scenario) {
  std::vector<Degrees> all;
  if (schedule == "sp_moe") {
    const bool causal = scenario.model.attention == AttentionMask::kCausal;
    for (const auto& [moe, non_moe] :
         {std::pair{1, 1}, {3, 1}, {2, 2}, {3, 3}, {4, 2}, {2, 4}, {8, 4}}) {
      if (causal || non_moe == 1) {
        all.push_back(degrees(scenario, moe, moe, non_moe));
      }
    }
    return all;
  }
  if (schedule.rfind("parm", 0) == 0 || schedule == "deepspeed_moe") {
    return {degrees(scenario, 1, 1)};
  }
  for (const int degree : {1, 2, 3, 4, 8}) {
    all.push_back(degrees(scenario, degree, degree));
  }
  if (schedule.rfind("fsmoe", 0) == 0) {
    all.push_back(degrees(scenario, 2, 3));
    all.push_back(degrees(scenario, 4, 1));
    all.push_back(degrees(scenario, 3, 8));
  }
  return all;
}

Scenario random_scenario(const std::string& schedule, Random& random) {
  const Layout* layout = nullptr;
  do {
    layout = &layouts()[static_cast<size_t>(draw_below(random, layouts().size()))];
  } while (!can_run(schedule, layout->parallel));
  Scenario scenario = equality_scenario(layout->parallel, Load::kBalanced);
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
  model.kv_heads = layout->parallel.mp < 4 && draw(random) ? 2 : 4;
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

std::string describe(const Scenario& scenario, const Degrees& degrees) {
  const ModelConfig& model = scenario.model;
  const ParallelConfig& parallel = scenario.parallel;
  return fmt::format(
      "mp {} dp {} esp {} ep {} edp {}; layers {} M {} H {} kv {} E {} k {} f {} ffn {} mask {} "
      "gate {} recompute {} pad {} routing {} seed {}; degrees {}, {}, {}",
      parallel.mp,
      parallel.dp,
      parallel.esp,
      parallel.ep,
      parallel.edp,
      model.layers,
      model.embedding,
      model.hidden,
      model.kv_heads,
      model.experts,
      model.top_k,
      model.capacity_factor.value_or(0),
      static_cast<int>(model.feed_forward),
      static_cast<int>(model.attention),
      static_cast<int>(model.gate),
      static_cast<int>(model.recompute),
      model.pad_capacity,
      static_cast<int>(scenario.routing.kind),
      scenario.seed,
      degrees.forward.front(),
      degrees.backward.front(),
      degrees.non_moe);
}

}  // namespace moesim::testing
