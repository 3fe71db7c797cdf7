#include "tests/support/device_interpreter.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/gemm.h"

namespace moesim::testing {
namespace {

std::byte* memory(DeviceAddress address) {
  return reinterpret_cast<std::byte*>(address);
}

// The matrix as floats: where it stands, or converted into `buffer`.
MatrixView view_of(const DeviceMatrix& matrix, std::vector<float>& buffer) {
  const int64_t rows = matrix.is_transposed ? matrix.columns : matrix.rows;
  const int64_t columns = matrix.is_transposed ? matrix.rows : matrix.columns;
  const float* data = reinterpret_cast<const float*>(matrix.at.address);
  int64_t stride = matrix.stride;
  if (matrix.at.type == ElementType::kBfloat16) {
    buffer.resize(static_cast<size_t>(rows * columns));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        buffer[static_cast<size_t>(row * columns + column)] =
            matrix.at.load(row * matrix.stride + column);
      }
    }
    data = buffer.data();
    stride = columns;
  }
  const MatrixView view(data, rows, columns, stride);
  return matrix.is_transposed ? view.transposed() : view;
}

void run_one(const Product& product) {
  std::vector<float> left;
  std::vector<float> right;
  const MatrixView a = view_of(product.left, left);
  const MatrixView b = view_of(product.right, right);
  if (product.target.type == ElementType::kFloat32) {
    multiply(
        a,
        b,
        {reinterpret_cast<float*>(product.target.address), product.target_stride, product.add});
    return;
  }
  std::vector<float> result(static_cast<size_t>(a.rows * b.columns));
  multiply(a, b, {result.data(), b.columns});
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t column = 0; column < b.columns; ++column) {
      const int64_t at = row * product.target_stride + column;
      const float before = product.add ? product.target.load(at) : 0.0F;
      product.target.store(at, before + result[static_cast<size_t>(row * b.columns + column)]);
    }
  }
}

}  // namespace

void DeviceInterpreter::run(const DeviceStep& step) {
  std::visit([this](const auto& action) { run(action); }, step.action);
}

void DeviceInterpreter::run(const Fill& fill) {
  std::memset(memory(fill.at), fill.value, static_cast<size_t>(fill.bytes));
}

void DeviceInterpreter::run(const Copy& copy) {
  std::memcpy(memory(copy.to), memory(copy.from), static_cast<size_t>(copy.bytes));
}

void DeviceInterpreter::run(const Products& products) {
  for (const Product& product : products.products) {
    for (int i = 0; i < product.batch; ++i) {
      Product one = product;
      one.left.at = product.left.at.from(i * product.left_step);
      one.right.at = product.right.at.from(i * product.right_step);
      one.target = product.target.from(i * product.target_step);
      run_one(one);
    }
  }
}

void DeviceInterpreter::run(const Kernel& kernel) {
  std::vector<int> blocks(static_cast<size_t>(kernel.blocks));
  std::iota(blocks.begin(), blocks.end(), 0);
  if (order_ == BlockOrder::kDescending) {
    std::reverse(blocks.begin(), blocks.end());
  }
  for (size_t i = blocks.size(); order_ == BlockOrder::kShuffled && i > 1; --i) {
    const auto other = random_.uniform_int(0, static_cast<int64_t>(i) - 1);
    std::swap(blocks[i - 1], blocks[static_cast<size_t>(other)]);
  }
  std::visit(
      [&](const auto& body) {
        for (const int block : blocks) {
          typename std::decay_t<decltype(body)>::Scratch scratch;
          std::memset(&scratch, 0xFF, sizeof(scratch));  // another block's
          body.run(block, scratch);
        }
      },
      kernel.body);
}

}  // namespace moesim::testing
