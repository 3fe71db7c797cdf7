#include "tests/support/fake_cudnn/fake_cudnn.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "tests/support/fake_cuda/fake_device.h"
#include "tests/support/fake_cudnn/graph_evaluation.h"

namespace moesim::testing {
namespace {

struct Descriptor {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool is_finalized = false;
  std::map<cudnnBackendAttributeName_t, std::vector<std::byte>> values;

  template <typename Value>
  std::vector<Value> all(cudnnBackendAttributeName_t name) const {
    const std::vector<std::byte>& bytes = values.at(name);
    std::vector<Value> all(bytes.size() / sizeof(Value));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }
  template <typename Value>
  Value one(cudnnBackendAttributeName_t name) const {
    Value value{};
    std::memcpy(&value, values.at(name).data(), sizeof(value));
    return value;
  }
  const Descriptor& descriptor(cudnnBackendAttributeName_t name) const {
    return *one<const Descriptor*>(name);
  }
};

struct Handle {
  FakeStream* stream = nullptr;
};

FakeDevice& device() {
  return FakeDevice::current();
}

template <typename Body>
cudnnStatus_t call(const char* name, const Body& body) {
  return fake_call<cudnnStatus_t>(name, body);
}

size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return 4;  // enumerations
  }
}

GraphTensor tensor_of(const Descriptor& operation, cudnnBackendAttributeName_t name) {
  GraphTensor tensor;
  if (!operation.values.contains(name)) {
    return tensor;
  }
  const Descriptor& from = operation.descriptor(name);
  tensor.id = from.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  tensor.type = from.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  tensor.is_virtual = from.one<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  tensor.is_by_value = from.one<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  std::ranges::copy(from.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), tensor.sizes.begin());
  std::ranges::copy(from.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES), tensor.steps.begin());
  return tensor;
}

GraphOperation pointwise_of(const Descriptor& from) {
  const Descriptor& how = from.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  GraphOperation operation;
  operation.kind = from.type;
  operation.mode = how.one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  if (how.values.contains(CUDNN_ATTR_POINTWISE_AXIS)) {
    operation.axis = how.one<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
  }
  operation.first = tensor_of(from, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  operation.second = tensor_of(from, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  operation.choice = tensor_of(from, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
  operation.result = tensor_of(from, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  return operation;
}

GraphOperation operation_of(const Descriptor& from) {
  GraphOperation operation;
  operation.kind = from.type;
  switch (from.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      operation.first = tensor_of(from, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
      operation.second = tensor_of(from, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
      operation.result = tensor_of(from, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
      return operation;
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      operation.reduction = from.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                                .one<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
      operation.first = tensor_of(from, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
      operation.result = tensor_of(from, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
      return operation;
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      operation.first = tensor_of(from, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
      operation.result = tensor_of(from, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
      return operation;
    default:
      return pointwise_of(from);
  }
}

std::vector<GraphOperation> operations_of(const Descriptor& plan) {
  const Descriptor& graph = plan.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                                .descriptor(CUDNN_ATTR_ENGINECFG_ENGINE);
  std::vector<GraphOperation> operations;
  for (const Descriptor* operation : graph.all<const Descriptor*>(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    operations.push_back(operation_of(*operation));
  }
  return operations;
}

size_t get_version() {
  return 91900;
}

const char* get_error_string(cudnnStatus_t) {
  return "CUDNN_STATUS_FAKE";
}

void get_last_error_string(char* text, size_t) {
  *text = 0;
}

cudnnStatus_t create(cudnnHandle_t* handle) {
  return call("cudnnCreate", [&] {
    *handle = reinterpret_cast<cudnnHandle_t>(device().make<Handle>());
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t destroy(cudnnHandle_t handle) {
  const std::lock_guard lock(device().mutex());
  device().destroy(handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_stream(cudnnHandle_t handle, cudaStream_t stream) {
  return call("cudnnSetStream", [&] {
    reinterpret_cast<Handle*>(handle)->stream = reinterpret_cast<FakeStream*>(stream);
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t create_descriptor(cudnnBackendDescriptorType_t type,
                                cudnnBackendDescriptor_t* descriptor) {
  return call("cudnnBackendCreateDescriptor", [&] {
    auto* fake = device().make<Descriptor>();
    fake->type = type;
    *descriptor = fake;
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t destroy_descriptor(cudnnBackendDescriptor_t descriptor) {
  const std::lock_guard lock(device().mutex());
  device().destroy(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_attribute(cudnnBackendDescriptor_t descriptor,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type,
                            int64_t count,
                            const void* values) {
  return call("cudnnBackendSetAttribute", [&] {
    auto* fake = static_cast<Descriptor*>(descriptor);
    if (fake->is_finalized) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    const auto* bytes = static_cast<const std::byte*>(values);
    fake->values[name].assign(bytes, bytes + static_cast<size_t>(count) * size_of(type));
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      for (const Descriptor* part : fake->all<const Descriptor*>(name)) {
        if (!part->is_finalized) {
          return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
        }
      }
    }
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t get_attribute(cudnnBackendDescriptor_t descriptor,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t,
                            int64_t requested,
                            int64_t* count,
                            void* values) {
  return call("cudnnBackendGetAttribute", [&] {
    const auto* fake = static_cast<const Descriptor*>(descriptor);
    *count = 1;
    if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
      *static_cast<int64_t*>(values) = 512;
    } else if (requested > 0) {
      Descriptor* kernel = *static_cast<Descriptor**>(values);
      kernel->values[CUDNN_ATTR_ENGINECFG_ENGINE] =
          fake->values.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
      kernel->is_finalized = true;
    }
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
  return call("cudnnBackendFinalize", [&] {
    static_cast<Descriptor*>(descriptor)->is_finalized = true;
    return CUDNN_STATUS_SUCCESS;
  });
}

// Numbers that go by value are read at once, as cuDNN does.
cudnnStatus_t execute(cudnnHandle_t handle,
                      cudnnBackendDescriptor_t plan,
                      cudnnBackendDescriptor_t pack) {
  return call("cudnnBackendExecute", [&] {
    const std::vector<GraphOperation> operations =
        operations_of(*static_cast<const Descriptor*>(plan));
    const auto& bindings = *static_cast<const Descriptor*>(pack);
    const auto ids = bindings.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = bindings.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    std::set<int64_t> by_value;
    for (const GraphOperation& operation : operations) {
      if (operation.second.is_by_value) {
        by_value.insert(operation.second.id);
      }
    }
    std::map<int64_t, void*> bound;
    std::map<int64_t, int32_t> numbers;
    for (size_t i = 0; i < ids.size(); ++i) {
      bound[ids[i]] = pointers[i];
      if (by_value.contains(ids[i])) {
        std::memcpy(&numbers[ids[i]], pointers[i], sizeof(int32_t));
      }
    }
    const auto work = [operations, bound, numbers]() mutable {
      for (auto& [id, number] : numbers) {
        bound[id] = &number;
      }
      evaluate(operations, bound);
    };
    device().add_work(
        reinterpret_cast<Handle*>(handle)->stream, work, device().options().kernel_time, true);
    return CUDNN_STATUS_SUCCESS;
  });
}

}  // namespace

CudnnFunctions fake_cudnn() {
  return {.get_version = get_version,
          .get_error_string = get_error_string,
          .get_last_error_string = get_last_error_string,
          .create = create,
          .destroy = destroy,
          .set_stream = set_stream,
          .create_descriptor = create_descriptor,
          .destroy_descriptor = destroy_descriptor,
          .set_attribute = set_attribute,
          .get_attribute = get_attribute,
          .finalize = finalize,
          .execute = execute};
}

}  // namespace moesim::testing
