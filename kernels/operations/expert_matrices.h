#pragma once

#include <vector>

#include "kernels/gemm.h"
#include "kernels/operations/operand.h"

namespace moesim {

// The (rows, M) matrices of one region of expert weights or their gradients.
class ExpertMatrices {
 public:
  // Throws Error where they are not as many for each expert, of `columns` columns, and together.
  ExpertMatrices(const TaskSite& site, Operand operand, int num_experts, int columns);

  // Of each matrix.
  int64_t rows() const { return rows_; }
  // Where an expert's first row stands in the buffer.
  int64_t first(int expert) const { return first_[static_cast<size_t>(expert)]; }
  float* data(TensorStore& tensors, int expert) const {
    return operand_.row(tensors, first(expert));
  }
  MatrixView view(TensorStore& tensors, int expert) const {
    return {data(tensors, expert), rows_, operand_.columns};
  }
  const Operand& operand() const { return operand_; }

 private:
  Operand operand_;
  int64_t rows_ = 0;
  std::vector<int64_t> first_;  // by expert
};

// For each block the index of its expert's weights: experts ascend.
std::vector<int> weight_of_block(const std::vector<int>& experts);

}  // namespace moesim
