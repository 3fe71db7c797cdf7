// The reference's gradients against differences of its loss: what it shares with the schedules'
// operations, the core functions, is not right because both agree on it.
#include "kernels/reference/reference.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/base/random.h"

namespace moesim {
namespace {

constexpr int kTokens = 12;
// Of the loss along a direction; FP32 and the curvature leave about 1e-3.
constexpr double kSlopeTolerance = 1e-2;

ModelConfig small_model() {
  ModelConfig model;
  model.layers = 2;
  model.batch = 2;
  model.sequence = kTokens / 2;
  model.embedding = 8;
  model.hidden = 8;
  model.heads = 4;
  model.kv_heads = 2;
  model.experts = 4;
  model.top_k = 2;
  return model;
}

template <typename Visit>
void for_each_matrix(LayerWeights& weights, const Visit& visit) {
  visit(weights.qkv);
  visit(weights.projection);
  visit(weights.gate);
  for (std::vector<Matrix>* matrices : {&weights.w1, &weights.w2, &weights.w3}) {
    for (Matrix& matrix : *matrices) {
      visit(matrix);
    }
  }
}

void fill(Matrix& matrix, double bound, Random& random) {
  for (float& value : matrix.values) {
    value = static_cast<float>(random.uniform(-bound, bound));
  }
}

ReferenceInputs make_inputs(const ModelConfig& model, Random& random) {
  ReferenceInputs inputs{
      Matrix(kTokens, model.embedding), Matrix(kTokens, model.embedding), zero_weights(model), {}};
  fill(inputs.input, 1, random);
  fill(inputs.target, 1, random);
  for (LayerWeights& layer : inputs.weights) {
    for_each_matrix(layer, [&](Matrix& matrix) { fill(matrix, 0.7, random); });
  }
  for (int layer = 0; layer < model.layers; ++layer) {
    CapacityDomain domain;
    domain.layer = layer;
    domain.tokens.resize(kTokens);
    std::iota(domain.tokens.begin(), domain.tokens.end(), 0);
    // Three choose each expert twice at most: choices of the gate do not change with the weights.
    domain.routed = {5, 7, 6, 6};
    domain.capacity = {5, 4, 6, 5};
    inputs.domains.push_back(domain);
  }
  return inputs;
}

double loss(const ModelConfig& model, const ReferenceInputs& inputs) {
  const Matrix output = run_reference(model, inputs, Rounding::kOff).output;
  double sum = 0;
  for (size_t i = 0; i < output.values.size(); ++i) {
    const double distance = double{output.values[i]} - inputs.target.values[i];
    sum += distance * distance / 2;
  }
  return sum;
}

// The slope of the loss along a random direction of one matrix, by differences and by gradient.
void expect_slope(const ModelConfig& model,
                  ReferenceInputs& inputs,
                  Matrix& matrix,
                  const Matrix& gradient,
                  Random& random) {
  constexpr double kStep = 1e-2;
  Matrix direction = matrix;
  fill(direction, 1, random);
  const Matrix kept = matrix;
  const auto loss_at = [&](double step) {
    for (size_t i = 0; i < matrix.values.size(); ++i) {
      matrix.values[i] = kept.values[i] + static_cast<float>(step) * direction.values[i];
    }
    return loss(model, inputs);
  };
  const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  matrix = kept;
  double expected = 0;
  double size = 0;
  for (size_t i = 0; i < gradient.values.size(); ++i) {
    expected += double{gradient.values[i]} * direction.values[i];
    size += double{gradient.values[i]} * gradient.values[i];
  }
  EXPECT_NEAR(slope, expected, kSlopeTolerance * (std::sqrt(size) + 0.1));
}

class ReferenceTest : public ::testing::TestWithParam<GateKind> {};

TEST_P(ReferenceTest, GradientsAreSlopesOfTheLoss) {
  constexpr uint64_t kSeed = 31;
  for (const AttentionMask mask : {AttentionMask::kCausal, AttentionMask::kFull}) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", mask " << static_cast<int>(mask));
    Random random(kSeed);
    ModelConfig model = small_model();
    model.gate = GetParam();
    model.attention = mask;
    model.feed_forward = FeedForward::kSwiglu;  // ReLU has no slope at its corner
    ReferenceInputs inputs = make_inputs(model, random);
    ReferenceResults results = run_reference(model, inputs, Rounding::kOff);
    expect_slope(model, inputs, inputs.input, results.d_input, random);
    for (size_t layer = 0; layer < inputs.weights.size(); ++layer) {
      std::vector<Matrix*> gradients;
      for_each_matrix(results.gradients[layer],
                      [&](Matrix& matrix) { gradients.push_back(&matrix); });
      size_t next = 0;
      for_each_matrix(inputs.weights[layer], [&](Matrix& matrix) {
        SCOPED_TRACE(::testing::Message() << "layer " << layer << ", matrix " << next);
        expect_slope(model, inputs, matrix, *gradients[next++], random);
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gates,
                         ReferenceTest,
                         ::testing::Values(GateKind::kGshard,
                                           GateKind::kSigmoid,
                                           GateKind::kXmoe,
                                           GateKind::kExpertChoice));

TEST(ReferenceTest, TokensBeyondTheCapacityAreDropped) {
  Random random(1);
  const ModelConfig model = small_model();
  const ReferenceInputs inputs = make_inputs(model, random);
  const ReferenceResults results = run_reference(model, inputs, Rounding::kOff);
  // Expert 1's choices are entries 5 .. 11 of the list, of tokens 5 .. 11; it has 4 slots.
  std::vector<int64_t> tokens;
  for (const auto& [token, expert] : results.assignments[0]) {
    if (expert == 1) {
      tokens.push_back(token);
    }
  }
  EXPECT_EQ(tokens, (std::vector<int64_t>{5, 6, 7, 8}));
}

TEST(ReferenceTest, DomainsMustHoldEveryTokenOnce) {
  Random random(1);
  const ModelConfig model = small_model();
  ReferenceInputs inputs = make_inputs(model, random);
  inputs.domains[1].tokens[3] = 4;
  EXPECT_THROW(run_reference(model, inputs, Rounding::kOff), Error);
}

}  // namespace
}  // namespace moesim
