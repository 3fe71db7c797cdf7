#pragma once

#include <cmath>

#include "kernels/core/host_device.h"

namespace moesim {

inline constexpr float kLearningRate = 1.0F / 1024;  // exact: SGD of integer gradients is too

MOESIM_HD float sgd_step(float weight, float gradient) {
  return weight - kLearningRate * gradient;
}

struct AdamMoments {
  float first = 0;
  float second = 0;
};

// Adam (Kingma and Ba, 2015, algorithm 1) without the correction of the bias of the moments, which
// needs the iteration's number. Returns the new weight.
MOESIM_HD float adam_step(float weight, float gradient, AdamMoments& moments) {
  constexpr float kBeta1 = 0.9F;
  constexpr float kBeta2 = 0.999F;
  constexpr float kEpsilon = 1e-8F;
  moments.first = kBeta1 * moments.first + (1.0F - kBeta1) * gradient;
  moments.second = kBeta2 * moments.second + (1.0F - kBeta2) * gradient * gradient;
  return weight - kLearningRate * moments.first / (std::sqrt(moments.second) + kEpsilon);
}

}  // namespace moesim
