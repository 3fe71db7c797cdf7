#pragma once

#include "sim/schedule/schedule.h"
#include "sim/schedule/unit_evaluator.h"

namespace moesim::testing {

// 8 ranks: mp = esp = 2, dp = ep = 4, four experts, two layers of B*L = 2*8 tokens.
inline Scenario small_scenario() {
  Scenario scenario;
  scenario.path = "small.txtpb";
  scenario.name = "small";
  scenario.model.layers = 2;
  scenario.model.batch = 2;
  scenario.model.sequence = 8;
  scenario.model.embedding = 8;
  scenario.model.hidden = 8;
  scenario.model.heads = 4;
  scenario.model.kv_heads = 2;
  scenario.model.experts = 4;
  scenario.model.top_k = 2;
  scenario.model.capacity_factor = 1.25;
  scenario.model.attention = AttentionMask::kCausal;
  scenario.parallel = {.mp = 2, .dp = 4, .esp = 2, .ep = 4, .edp = 1};
  return scenario;
}

inline Degrees degrees(const Scenario& scenario, int forward, int backward, int non_moe = 1) {
  return Degrees::uniform(scenario.model.layers, forward, backward, non_moe);
}

}  // namespace moesim::testing
