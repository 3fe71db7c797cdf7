#include "kernels/tensor_store.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr int64_t kElementSize = 4;
static_assert(sizeof(float) == kElementSize && sizeof(int32_t) == kElementSize);

int64_t num_elements(const Tensor& tensor) {
  return int64_t{tensor.blocks} * tensor.rows * tensor.columns;
}

constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kEmptySlot = -1;

bool is_index(const Tensor& tensor) {
  return tensor.dtype == DataType::kInt32;
}

}  // namespace

std::vector<int> all_ranks(const Program& program) {
  std::vector<int> ranks(program.num_ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

TensorStore::TensorStore(const Program& program, std::vector<int> ranks)
    : program_(&program), ranks_(std::move(ranks)), slot_of_(program.num_ranks, kNone) {
  for (const int rank : ranks_) {
    slot_of_[rank] = static_cast<int>(buffers_.size());
    auto& tensors = buffers_.emplace_back(program.tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = program.tensors[i];
      if (is_index(tensor)) {
        tensors[i].indices.resize(num_elements(tensor), kEmptySlot);
      } else {
        tensors[i].values.resize(num_elements(tensor), kUnwritten);
      }
    }
  }
}

TensorStore::TensorStore(const Program& program) : TensorStore(program, all_ranks(program)) {}

void TensorStore::clear() {
  for (auto& tensors : buffers_) {
    for (Buffer& buffer : tensors) {
      std::fill(buffer.values.begin(), buffer.values.end(), kUnwritten);
      std::fill(buffer.indices.begin(), buffer.indices.end(), kEmptySlot);
    }
  }
}

const TensorStore::Buffer& TensorStore::buffer(int rank, int tensor) const {
  const int slot = slot_of_[rank];
  CHECK(slot != kNone, "rank {} is executed by another process", rank);
  return buffers_[slot][tensor];
}

const float* TensorStore::values(int rank, int tensor, int64_t row) const {
  CHECK(!is_index(program_->tensors[tensor]), "tensor {} holds indices", tensor);
  return buffer(rank, tensor).values.data() + row * program_->tensors[tensor].columns;
}

float* TensorStore::values(int rank, int tensor, int64_t row) {
  return const_cast<float*>(std::as_const(*this).values(rank, tensor, row));
}

const int32_t* TensorStore::indices(int rank, int tensor, int64_t row) const {
  CHECK(is_index(program_->tensors[tensor]), "tensor {} holds values", tensor);
  return buffer(rank, tensor).indices.data() + row * program_->tensors[tensor].columns;
}

int32_t* TensorStore::indices(int rank, int tensor, int64_t row) {
  return const_cast<int32_t*>(std::as_const(*this).indices(rank, tensor, row));
}

const std::byte* TensorStore::bytes(int rank, int tensor, int64_t row) const {
  return is_index(program_->tensors[tensor])
             ? reinterpret_cast<const std::byte*>(indices(rank, tensor, row))
             : reinterpret_cast<const std::byte*>(values(rank, tensor, row));
}

std::byte* TensorStore::bytes(int rank, int tensor, int64_t row) {
  return const_cast<std::byte*>(std::as_const(*this).bytes(rank, tensor, row));
}

std::span<const std::byte> TensorStore::contents(int rank, int tensor) const {
  const int64_t size = num_elements(program_->tensors[tensor]) * kElementSize;
  return {bytes(rank, tensor), static_cast<size_t>(size)};
}

int64_t TensorStore::size(const Program& program, int num_ranks) {
  int64_t elements = 0;
  for (const Tensor& tensor : program.tensors) {
    elements += num_elements(tensor);
  }
  return elements * kElementSize * num_ranks;
}

}  // namespace moesim
