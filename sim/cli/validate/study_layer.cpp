#include "sim/cli/validate/study_layer.h"

namespace moesim::validation {

void set_layer(const StudyLayer& layer, int experts, Scenario& scenario) {
  constexpr int kHeads = 32;
  ModelConfig& model = scenario.model;
  model.batch = layer.batch;
  model.sequence = layer.sequence;
  model.embedding = layer.embedding;
  model.hidden = layer.hidden_ratio * layer.embedding;
  model.heads = kHeads;
  model.kv_heads = kHeads;
  model.experts = experts;
  model.top_k = 2;
  model.capacity_factor = layer.capacity_factor;
  model.feed_forward = FeedForward::kSimple;
  model.attention = AttentionMask::kFull;
  model.recompute = Recompute::kNothing;
  model.optimizer.reset();
  scenario.degrees = {};
}

}  // namespace moesim::validation
