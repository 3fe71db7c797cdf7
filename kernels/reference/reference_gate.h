#pragma once

#include <vector>

#include "kernels/core/gate_scores.h"
#include "kernels/reference/model_weights.h"
#include "kernels/reference/token_trace.h"

namespace moesim {

// A token in a slot of an expert, with the weight of its result.
struct Slot {
  int64_t token = 0;
  float weight = 0;
};

// One layer's gate over all its capacity domains.
class ReferenceGate {
 public:
  ReferenceGate(const ModelConfig& model, const LayerWeights& weights, Rounding rounding)
      : model_(&model), weights_(&weights), rounding_(rounding) {}

  // The slots of each expert.
  std::vector<std::vector<Slot>> forward(const Matrix& x,
                                         const std::vector<CapacityDomain>& domains);
  // `d_weights`: (tokens, E), 0 where a token has no slot. Adds to dx and the gradient.
  void backward(const Matrix& d_weights, Matrix& dx, Matrix& gradient) const;

 private:
  bool is_cosine() const { return model_->gate == GateKind::kXmoe; }
  GateRow row(int64_t token) const;
  Matrix scores() const;
  void choose(const CapacityDomain& domain);
  void let_experts_choose(const CapacityDomain& domain,
                          std::vector<std::vector<Slot>>& slots) const;
  void fill(const CapacityDomain& domain, std::vector<std::vector<Slot>>& slots) const;
  float weight(int64_t token, int expert) const;

  const ModelConfig* model_;
  const LayerWeights* weights_;
  Rounding rounding_;
  Matrix x_;  // rounded
  Matrix probabilities_;
  std::vector<std::vector<int>> choices_;  // by token
};

}  // namespace moesim
