#pragma once

#include "kernels/core/activation.h"
#include "kernels/core/phase.h"
#include "kernels/device/blocks/device_rows.h"

namespace moesim {

// The activations of rows of hidden values, packed: a block for each row.
struct Activate {
  enum : int { kThreads = 256 };
  using Scratch = BlockScratch<kThreads>;

  DeviceRows hidden;
  int width = 0;
  bool swiglu = false;
  Rounding rounding = Rounding::kOff;
  Elements to;  // rows x width

  MOESIM_HD void run(int block, Scratch&) const {
    const Elements row = hidden.row(block);
    const Elements own = to.from(int64_t{block} * width);
    block_for_packs<kThreads>(width, [&](int column, int count) {
      const Pack gate = row.load_pack(column, count);
      const Pack linear = swiglu ? row.load_pack(width + column, count) : Pack{};
      Pack result;
      for (int k = 0; k < kPackSize; ++k) {
        result.values[k] = activation({gate.values[k], linear.values[k]}, swiglu, rounding);
      }
      own.store_pack(column, count, result);
    });
  }
};

// The gradients of activations, in the first `width` columns of packed rows, become those of the
// hidden values: a block for each row.
struct DifferentiateHidden {
  enum : int { kThreads = 256 };
  using Scratch = BlockScratch<kThreads>;

  DeviceRows hidden;
  int width = 0;
  bool swiglu = false;
  Rounding rounding = Rounding::kOff;
  Elements d_hidden;  // rows x columns of hidden

  MOESIM_HD void run(int block, Scratch&) const {
    const Elements row = hidden.row(block);
    const Elements own = d_hidden.from(int64_t{block} * hidden.columns);
    block_for_packs<kThreads>(width, [&](int column, int count) {
      const Pack gate = row.load_pack(column, count);
      const Pack linear = swiglu ? row.load_pack(width + column, count) : Pack{};
      const Pack d = own.load_pack(column, count);
      Pack d_gate;
      Pack d_linear;
      for (int k = 0; k < kPackSize; ++k) {
        const HiddenGradient gradient =
            activation_gradient({gate.values[k], linear.values[k]}, swiglu, d.values[k], rounding);
        d_gate.values[k] = gradient.gate;
        d_linear.values[k] = gradient.linear;
      }
      own.store_pack(column, count, d_gate);
      if (swiglu) {
        own.store_pack(width + column, count, d_linear);
      }
    });
  }
};

}  // namespace moesim
