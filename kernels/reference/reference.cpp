#include "kernels/reference/reference.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/core/optimizer.h"
#include "kernels/reference/reference_attention.h"
#include "kernels/reference/reference_moe.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

std::vector<CapacityDomain> domains_of_layer(const ReferenceInputs& inputs, int layer) {
  std::vector<CapacityDomain> domains;
  std::vector<int64_t> tokens;
  for (const CapacityDomain& domain : inputs.domains) {
    if (domain.layer == layer) {
      domains.push_back(domain);
      tokens.insert(tokens.end(), domain.tokens.begin(), domain.tokens.end());
    }
  }
  std::sort(tokens.begin(), tokens.end());
  bool whole = static_cast<int64_t>(tokens.size()) == inputs.input.rows;
  for (size_t i = 0; whole && i < tokens.size(); ++i) {
    whole = tokens[i] == static_cast<int64_t>(i);
  }
  if (!whole) {
    throw Error(
        fmt::format("the gates of layer {} do not read every token once; look at the "
                    "regions that carry tokens from attention to them",
                    layer));
  }
  return domains;
}

// One step from a state of zeros.
void step(OptimizerAlgorithm algorithm, const Matrix& gradient, Matrix& weight) {
  for (size_t i = 0; i < weight.values.size(); ++i) {
    AdamMoments moments;
    float& value = weight.values[i];
    value = algorithm == OptimizerAlgorithm::kSgd ? sgd_step(value, gradient.values[i])
                                                  : adam_step(value, gradient.values[i], moments);
  }
}

void step(OptimizerAlgorithm algorithm, const LayerWeights& gradients, LayerWeights& weights) {
  step(algorithm, gradients.qkv, weights.qkv);
  step(algorithm, gradients.projection, weights.projection);
  step(algorithm, gradients.gate, weights.gate);
  for (size_t expert = 0; expert < weights.w1.size(); ++expert) {
    step(algorithm, gradients.w1[expert], weights.w1[expert]);
    step(algorithm, gradients.w2[expert], weights.w2[expert]);
    if (!weights.w3.empty()) {
      step(algorithm, gradients.w3[expert], weights.w3[expert]);
    }
  }
}

// Half the squared distance to the target.
Matrix loss_gradient(const Matrix& output, const Matrix& target, Rounding rounding) {
  Matrix gradient = rounded(output, rounding);
  for (size_t i = 0; i < gradient.values.size(); ++i) {
    gradient.values[i] -= target.values[i];
  }
  return gradient;
}

struct ReferenceLayer {
  ReferenceAttention attention;
  ReferenceMoe moe;
};

}  // namespace

ReferenceResults run_reference(const ModelConfig& model,
                               const ReferenceInputs& inputs,
                               Rounding rounding) {
  ReferenceResults results;
  results.gradients = zero_weights(model);
  std::vector<ReferenceLayer> layers;
  results.output = inputs.input;
  for (int index = 0; index < model.layers; ++index) {
    const LayerWeights& weights = inputs.weights[static_cast<size_t>(index)];
    ReferenceLayer& layer = layers.emplace_back(ReferenceLayer{
        ReferenceAttention(model, weights, rounding), ReferenceMoe(model, weights, rounding)});
    results.output =
        layer.moe.forward(layer.attention.forward(results.output), domains_of_layer(inputs, index));
    results.assignments.push_back(layer.moe.assignments());
  }
  results.d_input = loss_gradient(results.output, inputs.target, rounding);
  for (size_t index = layers.size(); index-- > 0;) {
    LayerWeights& gradients = results.gradients[index];
    results.d_input = layers[index].attention.backward(
        layers[index].moe.backward(results.d_input, gradients), gradients);
  }
  results.weights = inputs.weights;
  for (size_t index = 0; model.optimizer && index < layers.size(); ++index) {
    step(*model.optimizer, results.gradients[index], results.weights[index]);
  }
  return results;
}

}  // namespace moesim
