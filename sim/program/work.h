#pragma once

#include <cstdint>

#include "sim/io/program.h"

namespace moesim {

// What a compute task asks of a GPU, derived from its descriptor and regions (docs/model.md).
struct Work {
  double flops = 0;         // of its GEMMs, 2 per multiply-add
  int num_gemms = 0;        // kernels that pay the GEMM's start-up time
  double memory_bytes = 0;  // read and written by its memory-bound parts
};

// The nominal work of a task on any of its ranks; none for collectives, fixed tasks, host waits and
// tasks without regions. `valid_share` (0..1] scales rows that a routing leaves empty. Throws Error
// where a Program that was not verified lacks operands.
Work work_of(const Program& program, const Task& task, double valid_share = 1);

}  // namespace moesim
