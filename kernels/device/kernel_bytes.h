#pragma once

#include "kernels/device/device_step.h"

namespace moesim {

// The bytes of device memory that a kernel moves in so many blocks: each element that it reads or
// writes counted once for each block that needs it anew, and once in all where a cache holds it
// (what all blocks read: embeddings, choices, tables of slots). Empty slots and keys that are not
// seen are counted as full ones. Of CombinePieces its pieces tell (PieceList).
int64_t bytes_of(const KernelBody& body, int64_t blocks);

// The kernel's step with this work.
DeviceStep kernel_step(const KernelBody& body, int64_t blocks);

}  // namespace moesim
