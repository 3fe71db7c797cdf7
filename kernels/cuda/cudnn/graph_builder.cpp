#include "kernels/cuda/cudnn/graph_builder.h"

#include <bit>
#include <utility>

namespace moesim {
namespace {

constexpr int64_t kAlignment = 16;  // bytes, of all that is bound

std::vector<int64_t> to_vector(const std::array<int64_t, 4>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

GraphBuilder::Shape GraphBuilder::Shape::transposed() const {
  Shape shape = *this;
  std::swap(shape.sizes[2], shape.sizes[3]);
  std::swap(shape.steps[2], shape.steps[3]);
  return shape;
}

GraphBuilder::Shape GraphBuilder::dense(const std::array<int64_t, 4>& sizes) {
  return {sizes, {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1}};
}

// The reference is good until the next part.
const CudnnDescriptor& GraphBuilder::part(cudnnBackendDescriptorType_t type) {
  return parts_.emplace_back(cudnn_, type);
}

GraphBuilder::Tensor GraphBuilder::tensor(int64_t id,
                                          cudnnDataType_t type,
                                          const Shape& shape,
                                          Place place) {
  const CudnnDescriptor& tensor = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, to_vector(shape.sizes));
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, to_vector(shape.steps));
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, place == Place::kWithin);
  tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, place == Place::kByValue);
  tensor.finalize();
  return tensor.get();
}

GraphBuilder::Tensor GraphBuilder::bound(int64_t id, cudnnDataType_t type, const Shape& shape) {
  return tensor(id, type, shape, Place::kBound);
}

GraphBuilder::Tensor GraphBuilder::within(cudnnDataType_t type, const Shape& shape) {
  return tensor(next_id_++, type, shape, Place::kWithin);
}

GraphBuilder::Tensor GraphBuilder::scalar(cudnnDataType_t type, int32_t bits) {
  scalars_.push_back({next_id_, bits});
  return tensor(next_id_++, type, dense({1, 1, 1, 1}), Place::kByValue);
}

GraphBuilder::Tensor GraphBuilder::scalar(float value) {
  return scalar(CUDNN_DATA_FLOAT, std::bit_cast<int32_t>(value));
}

GraphBuilder::Tensor GraphBuilder::scalar(int32_t value) {
  return scalar(CUDNN_DATA_INT32, value);
}

void GraphBuilder::add_operation(const CudnnDescriptor& operation) {
  operation.finalize();
  operations_.push_back(operation.get());
}

void GraphBuilder::multiply(Tensor left, Tensor right, Tensor to) {
  const CudnnDescriptor& math = part(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  math.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  math.finalize();
  const Tensor how = math.get();
  const CudnnDescriptor& operation = part(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, std::vector{left});
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, std::vector{right});
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, std::vector{to});
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, std::vector{how});
  add_operation(operation);
}

void GraphBuilder::reduce(cudnnReduceTensorOp_t operator_of, Tensor from, Tensor to) {
  const CudnnDescriptor& math = part(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  math.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  math.set(CUDNN_ATTR_REDUCTION_OPERATOR, operator_of);
  math.finalize();
  const Tensor how = math.get();
  const CudnnDescriptor& operation = part(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, std::vector{from});
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, std::vector{to});
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, std::vector{how});
  add_operation(operation);
}

void GraphBuilder::reshape(Tensor from, Tensor to) {
  const CudnnDescriptor& operation = part(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, std::vector{from});
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, std::vector{to});
  add_operation(operation);
}

void GraphBuilder::pointwise(const Pointwise& what, const Arguments& arguments, Tensor to) {
  const CudnnDescriptor& math = part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  math.set(CUDNN_ATTR_POINTWISE_MODE, what.mode);
  math.set(CUDNN_ATTR_POINTWISE_MATH_PREC, what.math);
  if (what.axis >= 0) {
    math.set(CUDNN_ATTR_POINTWISE_AXIS, what.axis);
  }
  math.finalize();
  const Tensor how = math.get();
  const CudnnDescriptor& operation = part(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, std::vector{how});
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, std::vector{arguments.first});
  if (arguments.second != nullptr) {
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, std::vector{arguments.second});
  }
  if (arguments.choice != nullptr) {
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, std::vector{arguments.choice});
  }
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, std::vector{to});
  add_operation(operation);
}

CudnnGraph GraphBuilder::finish() && {
  CudnnGraph graph{std::move(parts_),
                   CudnnDescriptor(cudnn_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR),
                   std::move(scalars_)};
  graph.whole.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
  graph.whole.finalize();
  return graph;
}

}  // namespace moesim
