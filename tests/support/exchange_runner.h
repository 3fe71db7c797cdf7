#pragma once

#include <vector>

#include "kernels/device/exchange_plan.h"
#include "kernels/tensor_store.h"

namespace moesim::test {

// Carries out the parts of all members of one collective as NCCL would, in host memory:
// `plans[m]` is member m's, which is rank `ranks[m]`. Everything is sent before anything is
// received; what NCCL adds up begins with another member on each member, so that an order of sums
// that is taken for granted shows. Throws std::logic_error where the calls of the members do not
// fit each other, on which NCCL would hang or write wrong memory.
void run_exchange(const std::vector<ExchangePlan>& plans,
                  const std::vector<int>& ranks,
                  TensorStore& tensors);

// The same for the moves of `operation`, planned for all members.
void run_exchange(const MovePlan& moves,
                  CollectiveOperation operation,
                  bool native_all_to_all,
                  const std::vector<int>& ranks,
                  TensorStore& tensors);

}  // namespace moesim::test
