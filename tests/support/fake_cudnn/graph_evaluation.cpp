#include "tests/support/fake_cudnn/graph_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "kernels/core/elements.h"

namespace moesim::testing {
namespace {

using Index = std::array<int64_t, 4>;

template <typename Body>
void for_each_index(const Index& sizes, const Body& body) {
  Index at{};
  for (at[0] = 0; at[0] < sizes[0]; ++at[0]) {
    for (at[1] = 0; at[1] < sizes[1]; ++at[1]) {
      for (at[2] = 0; at[2] < sizes[2]; ++at[2]) {
        for (at[3] = 0; at[3] < sizes[3]; ++at[3]) {
          body(at);
        }
      }
    }
  }
}

int64_t offset(const GraphTensor& tensor, const Index& at) {
  int64_t sum = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    sum += at[i] * tensor.steps[i];
  }
  return sum;
}

// Where an index of a larger tensor falls in a smaller one, of which each part serves equally many.
Index within(const Index& at, const Index& sizes, const Index& smaller) {
  Index place{};
  for (size_t i = 0; i < at.size(); ++i) {
    place[i] = at[i] / (sizes[i] / smaller[i]);
  }
  return place;
}

class Evaluation {
 public:
  explicit Evaluation(const std::map<int64_t, void*>& bound) : bound_(bound) {}

  void run(const GraphOperation& operation) {
    switch (operation.kind) {
      case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
        return multiply(operation);
      case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
        return reduce(operation);
      case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
        memory_[operation.result.id] = memory(operation.first);
        return;
      default:
        return apply(operation);
    }
  }

 private:
  // Bound or virtual; values of virtual tensors are FP32, rounded where their type is BF16.
  struct Memory {
    Elements at;
    std::shared_ptr<std::vector<float>> own;
  };

  const Memory& memory(const GraphTensor& tensor) {
    Memory& memory = memory_[tensor.id];
    if (memory.at.address != 0) {
      return memory;
    }
    if (tensor.is_virtual) {
      const int64_t last = offset(
          tensor,
          {tensor.sizes[0] - 1, tensor.sizes[1] - 1, tensor.sizes[2] - 1, tensor.sizes[3] - 1});
      memory.own = std::make_shared<std::vector<float>>(static_cast<size_t>(last + 1));
      memory.at = {reinterpret_cast<DeviceAddress>(memory.own->data()), ElementType::kFloat32};
    } else {
      memory.at = {
          reinterpret_cast<DeviceAddress>(bound_.at(tensor.id)),
          tensor.type == CUDNN_DATA_BFLOAT16 ? ElementType::kBfloat16 : ElementType::kFloat32};
    }
    return memory;
  }

  static float rounded(const GraphTensor& tensor, float value) {
    return tensor.type == CUDNN_DATA_BFLOAT16 ? to_float(to_bfloat16(value)) : value;
  }
  float load(const GraphTensor& tensor, const Index& at) {
    if (tensor.is_by_value) {
      const void* value = bound_.at(tensor.id);
      return tensor.type == CUDNN_DATA_INT32
                 ? static_cast<float>(*static_cast<const int32_t*>(value))
                 : *static_cast<const float*>(value);
    }
    return rounded(tensor, memory(tensor).at.load(offset(tensor, at)));
  }
  void store(const GraphTensor& tensor, const Index& at, float value) {
    memory(tensor).at.store(offset(tensor, at), rounded(tensor, value));
  }

  void multiply(const GraphOperation& operation) {
    const GraphTensor& left = operation.first;
    const GraphTensor& right = operation.second;
    const int64_t heads = operation.result.sizes[1];
    for_each_index(operation.result.sizes, [&](const Index& at) {
      float sum = 0;
      for (int64_t k = 0; k < left.sizes[3]; ++k) {
        sum += load(left, {at[0], at[1] / (heads / left.sizes[1]), at[2], k}) *
               load(right, {at[0], at[1] / (heads / right.sizes[1]), k, at[3]});
      }
      store(operation.result, at, sum);
    });
  }

  void reduce(const GraphOperation& operation) {
    const bool is_largest = operation.reduction == CUDNN_REDUCE_TENSOR_MAX;
    const GraphTensor& from = operation.first;
    const GraphTensor& to = operation.result;
    std::map<Index, float> results;
    for_each_index(from.sizes, [&](const Index& at) {
      const float start = is_largest ? -std::numeric_limits<float>::infinity() : 0.0F;
      float& result = results.try_emplace(within(at, from.sizes, to.sizes), start).first->second;
      const float value = load(from, at);
      result = is_largest ? std::max(result, value) : result + value;
    });
    for (const auto& [at, result] : results) {
      store(to, at, result);
    }
  }

  void apply(const GraphOperation& operation) {
    for_each_index(operation.result.sizes, [&](const Index& at) {
      const auto value = [&](const GraphTensor& tensor) {
        return load(tensor, within(at, operation.result.sizes, tensor.sizes));
      };
      store(operation.result, at, result_of(operation, at, value));
    });
  }

  template <typename Value>
  static float result_of(const GraphOperation& operation, const Index& at, const Value& value) {
    const auto first = [&] { return value(operation.first); };
    const auto second = [&] { return value(operation.second); };
    switch (operation.mode) {
      case CUDNN_POINTWISE_ADD:
        return first() + second();
      case CUDNN_POINTWISE_SUB:
        return first() - second();
      case CUDNN_POINTWISE_MUL:
        return first() * second();
      case CUDNN_POINTWISE_DIV:
        return first() / second();
      case CUDNN_POINTWISE_EXP:
        return std::exp(first());
      case CUDNN_POINTWISE_LOG:
        return std::log(first());
      case CUDNN_POINTWISE_IDENTITY:
        return first();
      case CUDNN_POINTWISE_CMP_GE:
        return first() >= second() ? 1.0F : 0.0F;
      case CUDNN_POINTWISE_BINARY_SELECT:
        return value(operation.choice) != 0 ? first() : second();
      case CUDNN_POINTWISE_GEN_INDEX:
        return static_cast<float>(at[static_cast<size_t>(operation.axis)]);
      default:
        throw std::logic_error("the fake has no such mode");
    }
  }

  const std::map<int64_t, void*>& bound_;
  std::map<int64_t, Memory> memory_;
};

}  // namespace

void evaluate(const std::vector<GraphOperation>& operations,
              const std::map<int64_t, void*>& bound) {
  Evaluation evaluation(bound);
  for (const GraphOperation& operation : operations) {
    evaluation.run(operation);
  }
}

}  // namespace moesim::testing
