#include "kernels/inputs.h"

#include <cmath>
#include <set>

#include "kernels/global_tensor.h"
#include "sim/base/random.h"

namespace moesim {
namespace {

constexpr int kTokenRange = 4;
constexpr int kWeightRange = 1;

// The tensors that stand for weights, and those that only an optimizer keeps.
struct Parameters {
  std::set<int> weights;
  std::set<int> states;
};

void add_tensors(const std::vector<Region>& regions, size_t first, std::set<int>& tensors) {
  for (size_t i = first; i < regions.size(); ++i) {
    tensors.insert(regions[i].tensor);
  }
}

Parameters find_parameters(const Program& program) {
  Parameters parameters;
  for (const Task& task : program.tasks) {
    if (std::holds_alternative<Optimizer>(task.descriptor)) {
      add_tensors(task.writes, 0, parameters.states);
    }
    if (task.pass != Pass::kForward || task.reads.empty()) {
      continue;
    }
    if (std::holds_alternative<Gate>(task.descriptor) ||
        std::holds_alternative<Attention>(task.descriptor)) {
      add_tensors(task.reads, task.reads.size() - 1, parameters.weights);
    } else if (std::holds_alternative<Expert>(task.descriptor)) {
      add_tensors(task.reads, 1, parameters.weights);
    }
  }
  for (const int weight : parameters.weights) {
    parameters.states.erase(weight);
  }
  return parameters;
}

// What the elements of one tensor are drawn from: integers of [-range, range] or reals of
// [-bound, bound).
struct Distribution {
  InputData data = InputData::kInteger;
  int range = 0;
  double bound = 0;

  float draw(Random random) const {
    return data == InputData::kInteger ? static_cast<float>(random.uniform_int(-range, range))
                                       : static_cast<float>(random.uniform(-bound, bound));
  }
};

class Filler {
 public:
  Filler(InputData data, TensorStore& store)
      : data_(data), store_(store), parameters_(find_parameters(store.program())) {
    groups_.update(store.program());
  }

  void fill(int tensor) {
    for (const int rank : store_.ranks()) {
      fill(tensor, rank);
    }
  }

 private:
  Distribution distribution(int tensor) const {
    if (parameters_.states.count(tensor) > 0) {
      return {data_};
    }
    // A product sums up over about as many elements as a row has.
    return parameters_.weights.count(tensor) > 0
               ? Distribution{data_,
                              kWeightRange,
                              1 / std::sqrt(store_.program().tensors[tensor].columns)}
               : Distribution{data_, kTokenRange, 1};
  }

  void fill(int index, int rank) {
    const Tensor& tensor = store_.program().tensors[index];
    const GlobalShape shape = global_shape(store_.program(), index);
    const BufferPlace place = place_of(store_.program(), groups_, index, rank);
    const Distribution distribution = this->distribution(index);
    for (int64_t row = 0; row < int64_t{tensor.blocks} * tensor.rows; ++row) {
      const int64_t global = global_row(shape, place, tensor.rows, row);
      float* values = store_.values(rank, index, row);
      for (int column = 0; column < tensor.columns; ++column) {
        const auto element = static_cast<uint64_t>(global * tensor.columns + column);
        const Random random(static_cast<uint64_t>(tensor.seed), element);
        values[column] = place.first_partial ? distribution.draw(random) : 0.0F;
      }
    }
  }

  InputData data_;
  TensorStore& store_;
  Parameters parameters_;
  GroupTable groups_;
};

}  // namespace

void fill_inputs(InputData data, TensorStore& store) {
  Filler filler(data, store);
  for (int tensor = 0; tensor < static_cast<int>(store.program().tensors.size()); ++tensor) {
    const Tensor& shape = store.program().tensors[tensor];
    if (shape.input && shape.dtype != DataType::kInt32) {
      filler.fill(tensor);
    }
  }
}

}  // namespace moesim
