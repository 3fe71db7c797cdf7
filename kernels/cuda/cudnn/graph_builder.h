#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cuda/cudnn/cudnn_descriptor.h"

namespace moesim {

// Numbers that a graph takes by value, each under the id of its tensor: the bits of an FP32 or an
// INT32.
struct GraphScalar {
  int64_t id = 0;
  int32_t bits = 0;
};

// Operations that cuDNN may fuse into one kernel.
struct CudnnGraph {
  std::vector<CudnnDescriptor> parts;  // tensors and operations
  CudnnDescriptor whole;
  std::vector<GraphScalar> scalars;
};

// Puts a graph together, operation by operation. Everything it returns lives as long as the graph.
class GraphBuilder {
 public:
  using Tensor = cudnnBackendDescriptor_t;

  // Four dimensions, steps in elements.
  struct Shape {
    std::array<int64_t, 4> sizes{};
    std::array<int64_t, 4> steps{};

    // The last two dimensions change places.
    Shape transposed() const;
  };
  // One behind the other.
  static Shape dense(const std::array<int64_t, 4>& sizes);

  // Keeps a reference.
  explicit GraphBuilder(const CudnnFunctions& cudnn) : cudnn_(cudnn) {}

  // Bound to memory under `id` when the graph runs; ids begin at 1.
  Tensor bound(int64_t id, cudnnDataType_t type, const Shape& shape);
  Tensor scalar(float value);
  Tensor scalar(int32_t value);
  // Of no memory: within the kernel.
  Tensor within(cudnnDataType_t type, const Shape& shape);

  // Of FP32 sums.
  void multiply(Tensor left, Tensor right, Tensor to);
  void reduce(cudnnReduceTensorOp_t operator_of, Tensor from, Tensor to);
  // The same memory under another shape.
  void reshape(Tensor from, Tensor to);

  struct Pointwise {
    cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
    cudnnDataType_t math = CUDNN_DATA_FLOAT;
    int64_t axis = -1;  // of an index; none otherwise
  };
  struct Arguments {
    Tensor first = nullptr;
    Tensor second = nullptr;  // of modes with two or three
    Tensor choice = nullptr;  // true: the first
  };
  void pointwise(const Pointwise& what, const Arguments& arguments, Tensor to);

  CudnnGraph finish() &&;

 private:
  enum class Place { kBound, kByValue, kWithin };

  Tensor tensor(int64_t id, cudnnDataType_t type, const Shape& shape, Place place);
  Tensor scalar(cudnnDataType_t type, int32_t bits);
  const CudnnDescriptor& part(cudnnBackendDescriptorType_t type);
  void add_operation(const CudnnDescriptor& operation);

  const CudnnFunctions& cudnn_;
  std::vector<CudnnDescriptor> parts_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::vector<GraphScalar> scalars_;
  int64_t next_id_ = 1000;  // of tensors that are not bound
};

}  // namespace moesim
