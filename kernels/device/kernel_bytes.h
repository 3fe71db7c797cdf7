#pragma once

#include "kernels/device/device_step.h"

namespace moesim {

// The bytes of device memory that a kernel moves in so many blocks: each element that it reads or
// writes counted once for each block that needs it anew, and once in all where a cache holds it
// (what all blocks read: embeddings, choices, tables of slots). Empty slots and keys that are not
// seen are counted as full ones. `slots`: how many there are in all, of kernels for which that is
// no argument (SumSlots, FillExpertSlots, FillChosenSlots). Of CombinePieces its pieces tell
// (PieceList).
int64_t bytes_of(const KernelBody& body, int64_t blocks, int64_t slots = 0);

// The kernel's step with this work.
DeviceStep kernel_step(const KernelBody& body, int64_t blocks, int64_t slots = 0);

}  // namespace moesim
