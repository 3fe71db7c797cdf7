#pragma once

#include <vector>

#include "kernels/reference/model_weights.h"

namespace moesim {

// One layer's attention over all samples, every head in turn.
class ReferenceAttention {
 public:
  ReferenceAttention(const ModelConfig& model, const LayerWeights& weights, Rounding rounding)
      : model_(&model), weights_(&weights), rounding_(rounding) {}

  // Rows are tokens, sample by sample.
  Matrix forward(const Matrix& x);
  // Returns the gradient of x and adds those of the weights.
  Matrix backward(const Matrix& dy, LayerWeights& gradients) const;

 private:
  // Where a head stands: its sample's first row and its first columns in qkv and context.
  struct Head {
    int64_t row = 0;
    int64_t query = 0;
    int64_t key = 0;
    int64_t value = 0;
  };

  std::vector<Head> heads() const;
  Matrix columns(const Matrix& from, const Head& head, int64_t column) const;
  Matrix probabilities(const Head& head) const;  // (L, L), not rounded
  Matrix score_gradient(const Matrix& probabilities, Matrix d_probabilities) const;

  const ModelConfig* model_;
  const LayerWeights* weights_;
  Rounding rounding_;
  Matrix x_;  // rounded, as are the others
  Matrix qkv_;
  Matrix context_;
};

}  // namespace moesim
