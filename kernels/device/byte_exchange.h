#pragma once

#include "kernels/device/exchange_plan.h"
#include "kernels/host/fabric.h"

namespace moesim {

// Bytes of a row of such an exchange: its elements are FP32.
inline constexpr int64_t kByteExchangeRow = 4;

// A member's part of a collective without regions: as many bytes travel as it says, and mean
// nothing. They lie in scratch memory, in rows of one element; what is no multiple of a row is
// rounded up. `traffic` is traffic_of(program, collective, members).
ExchangePlan plan_byte_exchange(const Collective& collective,
                                const Traffic& traffic,
                                const ExchangeRequest& request);

}  // namespace moesim
