#include "kernels/device/store_transfer.h"

#include <cstring>
#include <span>

namespace moesim {
namespace {

bool is_bfloat16(const TensorStore& tensors, int tensor, Storage storage) {
  return element_type(tensors.program().tensors[static_cast<size_t>(tensor)], storage) ==
         ElementType::kBfloat16;
}

}  // namespace

void encode_buffer(
    const TensorStore& tensors, int rank, int tensor, Storage storage, void* encoded) {
  const std::span<const std::byte> contents = tensors.contents(rank, tensor);
  if (!is_bfloat16(tensors, tensor, storage)) {
    std::memcpy(encoded, contents.data(), contents.size());
    return;
  }
  const float* values = tensors.values(rank, tensor);
  auto* to = static_cast<Bfloat16*>(encoded);
  for (size_t i = 0; i < contents.size() / sizeof(float); ++i) {
    to[i] = to_bfloat16(values[i]);
  }
}

void decode_buffer(
    const void* encoded, Storage storage, int rank, int tensor, TensorStore& tensors) {
  const size_t bytes = tensors.contents(rank, tensor).size();
  if (!is_bfloat16(tensors, tensor, storage)) {
    std::memcpy(tensors.bytes(rank, tensor), encoded, bytes);
    return;
  }
  const auto* values = static_cast<const Bfloat16*>(encoded);
  float* to = tensors.values(rank, tensor);
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    to[i] = to_float(values[i]);
  }
}

}  // namespace moesim
