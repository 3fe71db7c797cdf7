#pragma once

#include <vector>

#include "kernels/reference/reference.h"
#include "kernels/reference/reference_gate.h"

namespace moesim {

// One layer's Mixture of Experts, every expert in turn.
class ReferenceMoe {
 public:
  ReferenceMoe(const ModelConfig& model, const LayerWeights& weights, Rounding rounding)
      : model_(&model), weights_(&weights), rounding_(rounding), gate_(model, weights, rounding) {}

  Matrix forward(const Matrix& x, const std::vector<CapacityDomain>& domains);
  // Returns the gradient of x and adds those of the weights.
  Matrix backward(const Matrix& dy, LayerWeights& gradients) const;

  std::vector<Assignment> assignments() const;

 private:
  // An expert's tokens, with what they keep for backward.
  struct Expert {
    std::vector<Slot> slots;
    Matrix x;       // rounded
    Matrix hidden;  // before the activation; SwiGLU: w1's columns, then w3's
    Matrix y;       // rounded
  };

  bool swiglu() const { return model_->feed_forward == FeedForward::kSwiglu; }
  void forward(size_t expert, const Matrix& x);
  Matrix activated(const Expert& expert) const;
  Matrix backward(size_t expert, const Matrix& dy, LayerWeights& gradients) const;

  const ModelConfig* model_;
  const LayerWeights* weights_;
  Rounding rounding_;
  ReferenceGate gate_;
  std::vector<Expert> experts_;
};

}  // namespace moesim
