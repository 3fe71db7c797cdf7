#pragma once

#include <functional>
#include <memory>

#include "kernels/core/rounding.h"
#include "kernels/device/lowering_space.h"
#include "sim/io/profile.h"

namespace moesim {

class FusedAttentionEngine;

// Makes one for the current device. Throws Failure where there is none for it.
using MakeFusedAttention = std::function<std::unique_ptr<FusedAttentionEngine>()>;

struct CudaOptions {
  int device = 0;
  int hardware_queues = kDefaultHardwareQueues;
  Storage storage = Storage::kFloat32;
  Rounding rounding = Rounding::kOff;
  // Every tensor has memory of its own and is copied to the device and back, so that all of the
  // store can be compared. Else tensors share memory, and only inputs and results come back.
  bool keeps_all = false;
  int gemm_sms = 0;  // SMs that cuBLASLt's algorithms count on; 0: all
  // The iteration is captured as a graph in the first run, and runs launch that: what the host
  // takes to launch task after task does not show. Not for Programs with host waits.
  bool uses_graph = false;
  // Of BF16 and without rounding attention is fused where it has a kernel; empty: nowhere.
  MakeFusedAttention make_attention{};
};

}  // namespace moesim
