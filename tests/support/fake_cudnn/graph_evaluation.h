#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <cudnn_graph.h>

namespace moesim::testing {

struct GraphTensor {
  int64_t id = 0;  // 0: none
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::array<int64_t, 4> sizes{};
  std::array<int64_t, 4> steps{};
  bool is_virtual = false;
  bool is_by_value = false;
};

struct GraphOperation {
  cudnnBackendDescriptorType_t kind = CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;
  int64_t axis = -1;
  GraphTensor first;
  GraphTensor second;
  GraphTensor choice;
  GraphTensor result;
};

// Operation by operation, on host memory. `bound`: of tensors that are not virtual.
void evaluate(const std::vector<GraphOperation>& operations, const std::map<int64_t, void*>& bound);

}  // namespace moesim::testing
