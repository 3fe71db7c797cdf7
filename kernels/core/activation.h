#pragma once

#include "kernels/core/elements.h"
#include "kernels/core/rounding.h"

namespace moesim {

// What an expert keeps of a row: `width` values before the activation, for SwiGLU `width` of w1
// followed by `width` of w3.
template <typename Row>
struct HiddenRow {
  Row values{};
  int width = 0;
  bool swiglu = false;
};

// What a column of it has: w1's value, and w3's for SwiGLU.
struct HiddenValue {
  float gate = 0;
  float linear = 0;
};

template <typename Row>
MOESIM_HD HiddenValue hidden_value(const HiddenRow<Row>& hidden, int column) {
  return {load(hidden.values, column),
          hidden.swiglu ? load(hidden.values, hidden.width + column) : 0.0F};
}

// ReLU, or SwiGLU = SiLU(a) * b with SiLU(a) = a * sigmoid(a) (Shazeer, "GLU Variants Improve
// Transformer", 2020). The result is rounded: it is the next product's factor.
MOESIM_HD float activation(const HiddenValue& hidden, bool swiglu, Rounding rounding) {
  const float a = rounded(hidden.gate, rounding);
  if (!swiglu) {
    return a < 0 ? 0.0F : a;  // NaN stays NaN
  }
  return rounded(a * sigmoid(a) * rounded(hidden.linear, rounding), rounding);
}

template <typename Row>
MOESIM_HD float activation(const HiddenRow<Row>& hidden, int column, Rounding rounding) {
  return activation(hidden_value(hidden, column), hidden.swiglu, rounding);
}

// The gradient of the hidden values in a column from that of the activation, rounded: of w1's
// value, and for SwiGLU of w3's.
struct HiddenGradient {
  float gate = 0;
  float linear = 0;
};

// With s = sigmoid(a): d SiLU(a) / da = s * (1 + a * (1 - s)).
MOESIM_HD HiddenGradient activation_gradient(const HiddenValue& hidden,
                                             bool swiglu,
                                             float d_activation,
                                             Rounding rounding) {
  const float a = rounded(hidden.gate, rounding);
  const float d = rounded(d_activation, rounding);
  if (!swiglu) {
    return {a > 0 ? d : (a <= 0 ? 0.0F : a), 0.0F};  // NaN stays NaN
  }
  const float b = rounded(hidden.linear, rounding);
  const float s = sigmoid(a);
  return {rounded(d * b * (s * (1.0F + a * (1.0F - s))), rounding), rounded(d * a * s, rounding)};
}

template <typename Row>
MOESIM_HD HiddenGradient activation_gradient(const HiddenRow<Row>& hidden,
                                             int column,
                                             float d_activation,
                                             Rounding rounding) {
  return activation_gradient(hidden_value(hidden, column), hidden.swiglu, d_activation, rounding);
}

}  // namespace moesim
