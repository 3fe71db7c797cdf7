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
    block_for_packs<kThreads>(weights.columns, [&](int i, int count) { step(w, g, s, i, count); });
  }

  MOESIM_HD void step(
      const Elements& w, const Elements& g, const Elements& s, int i, int count) const {
    const int columns = weights.columns;
    Pack weight = w.load_pack(i, count);
    const Pack gradient = g.load_pack(i, count);
    if (is_adam) {
      Pack first = s.load_pack(i, count);
      Pack second = s.load_pack(columns + i, count);
      for (int k = 0; k < kPackSize; ++k) {
        AdamMoments moments{first.values[k], second.values[k]};
        weight.values[k] = adam_step(weight.values[k], gradient.values[k], moments);
        first.values[k] = moments.first;
        second.values[k] = moments.second;
      }
      s.store_pack(i, count, first);
      s.store_pack(columns + i, count, second);
    } else {
      for (int k = 0; k < kPackSize; ++k) {
        weight.values[k] = sgd_step(weight.values[k], gradient.values[k]);
      }
    }
    w.store_pack(i, count, weight);
    if (keeps_copy) {
      s.store_pack((is_adam ? 2 : 0) * columns + i, count, weight);
    }
  }
};

}  // namespace moesim
