#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/task_lowering.h"

namespace moesim {

// Which slot each row of tokens has with each expert, once the steps added so far have run.
struct SlotMapping {
  const int32_t* slots = nullptr;  // rows x experts, -1: none
  int experts = 0;
};

// `experts`: of each block of the index.
SlotMapping lower_slot_mapping(TaskLowering& task,
                               const Operand& index,
                               const std::vector<int>& experts,
                               int64_t num_rows);

}  // namespace moesim
