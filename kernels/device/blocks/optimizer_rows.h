#pragma once

#include "kernels/core/optimizer.h"
#include "kernels/core/phase.h"
#include "kernels/device/blocks/device_rows.h"

namespace moesim {

// A step of SGD or Adam. A row of state has the first moments, the second moments, and perhaps a
// copy of the weights, each as long as a row of weights. A block for each row.
struct OptimizerStep {
  enum : int { kThreads = 256 };
  using Scratch = BlockScratch<kThreads>;

  bool is_adam = false;
  bool keeps_copy = false;
  DeviceRows weights;
  DeviceRows gradients;
  DeviceRows state;  // no columns: none

  MOESIM_HD void run(int block, Scratch&) const {
    const Elements w = weights.row(block);
    const Elements g = gradients.row(block);
    const Elements s = state.columns == 0 ? Elements{} : state.row(block);
    block_for_fours<kThreads>(weights.columns, [&](int i, int count) { step(w, g, s, i, count); });
  }

  MOESIM_HD void step(
      const Elements& w, const Elements& g, const Elements& s, int i, int count) const {
    const int columns = weights.columns;
    Four weight = w.load_four(i, count);
    const Four gradient = g.load_four(i, count);
    if (is_adam) {
      Four first = s.load_four(i, count);
      Four second = s.load_four(columns + i, count);
      for (int k = 0; k < 4; ++k) {
        AdamMoments moments{first.values[k], second.values[k]};
        weight.values[k] = adam_step(weight.values[k], gradient.values[k], moments);
        first.values[k] = moments.first;
        second.values[k] = moments.second;
      }
      s.store_four(i, count, first);
      s.store_four(columns + i, count, second);
    } else {
      for (int k = 0; k < 4; ++k) {
        weight.values[k] = sgd_step(weight.values[k], gradient.values[k]);
      }
    }
    w.store_four(i, count, weight);
    if (keeps_copy) {
      s.store_four((is_adam ? 2 : 0) * columns + i, count, weight);
    }
  }
};

}  // namespace moesim
