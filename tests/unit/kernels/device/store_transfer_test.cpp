#include "kernels/device/store_transfer.h"

#include <cstring>

#include <gtest/gtest.h>

namespace moesim {
namespace {

Program program_of(DataType type) {
  Program program;
  program.num_ranks = 1;
  Tensor tensor;
  tensor.name = "x";
  tensor.rows = 1;
  tensor.columns = 3;
  tensor.dtype = type;
  program.tensors = {tensor};
  return program;
}

// What comes back of three values.
std::vector<float> there_and_back(DataType type,
                                  Storage storage,
                                  const std::vector<float>& values) {
  const Program program = program_of(type);
  TensorStore tensors(program);
  std::copy(values.begin(), values.end(), tensors.values(0, 0));
  std::vector<std::byte> encoded(
      static_cast<size_t>(device_bytes(program.tensors.front(), storage)));
  encode_buffer(tensors, 0, 0, storage, encoded.data());
  TensorStore back(program);
  decode_buffer(encoded.data(), storage, 0, 0, back);
  return {back.values(0, 0), back.values(0, 0) + 3};
}

// BF16 has 8 significant bits: 1 + 2^-8 and 1 + 3 * 2^-8 lie half-way between neighbours and round
// to the even one.
TEST(StoreTransferTest, RoundsWhatIsStoredAsBfloat16) {
  const std::vector<float> values = {1 + 0x1p-8F, 1 + 0x3p-8F, -2};
  EXPECT_EQ(there_and_back(DataType::kBf16, Storage::kOwnType, values),
            (std::vector<float>{1, 1 + 0x4p-8F, -2}));
}

TEST(StoreTransferTest, KeepsAllBitsOfFloats) {
  const std::vector<float> values = {1 + 0x1p-23F, -0.0F, 0x1p-149F};
  EXPECT_EQ(there_and_back(DataType::kBf16, Storage::kFloat32, values), values);
  EXPECT_EQ(there_and_back(DataType::kFp32, Storage::kOwnType, values), values);
}

TEST(StoreTransferTest, KeepsIndices) {
  const Program program = program_of(DataType::kInt32);
  TensorStore tensors(program);
  tensors.indices(0, 0)[1] = 1 << 30;
  std::vector<std::byte> encoded(3 * sizeof(int32_t));
  encode_buffer(tensors, 0, 0, Storage::kOwnType, encoded.data());
  TensorStore back(program);
  back.indices(0, 0)[1] = 0;
  decode_buffer(encoded.data(), Storage::kOwnType, 0, 0, back);
  EXPECT_EQ(back.indices(0, 0)[0], -1);
  EXPECT_EQ(back.indices(0, 0)[1], 1 << 30);
}

}  // namespace
}  // namespace moesim
