#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/nccl/communicators.h"
#include "kernels/device/exchange_plan.h"
#include "sim/base/time.h"

namespace moesim {

// What NCCL does on one GPU alone: a communicator of one rank, which sends to itself. Its kernels
// copy within the device's memory on as many SMs as it gives them.
struct SelfCall {
  ExchangeKind kind = ExchangeKind::kSend;  // with a receive; or kAllToAll
  int64_t bytes = 0;
  std::vector<Time> times;  // on the device
};

struct SelfCommunicationOptions {
  CtaRange ctas{};
  std::vector<int64_t> sizes;  // in bytes; multiples of 4
  int num_warmups = 2;
  int num_runs = 10;
};

// Times sends to self and, where this NCCL has it, ncclAlltoAll, on the current device. Throws
// CudaError, NcclError, and Failure where what arrives is not what was sent.
std::vector<SelfCall> time_self_communication(const SelfCommunicationOptions& options);

}  // namespace moesim
