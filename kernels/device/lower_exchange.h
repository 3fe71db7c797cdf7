#pragma once

#include <vector>

#include "kernels/device/device_step.h"
#include "kernels/device/exchange_plan.h"
#include "kernels/device/lowering_space.h"

namespace moesim {

// An ExchangeCall on a device's memory. Where `from` or `to` means nothing it is 0.
struct DeviceCall {
  ExchangeKind kind = ExchangeKind::kSend;
  DeviceAddress from = 0;
  DeviceAddress to = 0;
  int64_t elements = 0;  // NCCL's count
  ElementType type = ElementType::kFloat32;
  int peer = kNone;
};

// One member's part of a collective, as its device and NCCL are told it: one behind the other on
// the collective's stream, the calls as one group.
struct DeviceExchange {
  std::vector<DeviceStep> pack;
  std::vector<DeviceCall> calls;
  std::vector<DeviceStep> unpack;
};

struct ExchangeSite {
  const ExchangePlan* plan = nullptr;
  std::vector<int> ranks;  // by member
  int member = 0;          // whose plan it is
  int stream = kNone;
  ElementType type = ElementType::kFloat32;  // of what is moved
};

// Scratch memory is that of the member's stream.
DeviceExchange lower_exchange(const ExchangeSite& site, LoweringSpace& space);

}  // namespace moesim
