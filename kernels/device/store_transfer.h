#pragma once

#include "kernels/device/lowering_space.h"
#include "kernels/tensor_store.h"

namespace moesim {

// A rank's buffer between host memory and the bytes that a device holds of it, device_bytes of
// them: BF16 rounds to the nearest.
void encode_buffer(
    const TensorStore& tensors, int rank, int tensor, Storage storage, void* encoded);
void decode_buffer(
    const void* encoded, Storage storage, int rank, int tensor, TensorStore& tensors);

}  // namespace moesim
