#include "kernels/reference/model_tensors.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/global_tensor.h"

namespace moesim {
namespace {

// The tensors of a Program that a reference can be compared with, found through the tasks that
// read or write them; kNone where there is none.
struct ModelTensors {
  using ByMicroBatch = std::map<int, int>;
  ByMicroBatch input;
  ByMicroBatch target;
  ByMicroBatch output;
  ByMicroBatch d_input;
  struct Parameters {
    int weight = kNone;
    int gradient = kNone;
  };
  Parameters dense;
  Parameters gate;
  Parameters expert;
};

int tensor_at(const std::vector<Region>& regions, size_t i) {
  return i < regions.size() ? regions[i].tensor : kNone;
}

struct Finder {
  const Task& task;
  ModelTensors& found;

  bool backward() const { return task.pass == Pass::kBackward; }

  void operator()(const Attention&) const {
    if (backward()) {
      found.dense.gradient = tensor_at(task.writes, 2);
      if (task.layer == 0) {
        found.d_input[task.micro_batch] = tensor_at(task.writes, 1);
      }
    } else if (task.pass == Pass::kForward) {
      found.dense.weight = tensor_at(task.reads, task.reads.size() - 1);
      if (task.layer == 0) {
        found.input[task.micro_batch] = tensor_at(task.reads, 0);
      }
    }
  }
  void operator()(const Gate&) const {
    if (backward()) {
      found.gate.gradient = tensor_at(task.writes, 1);
    } else {
      found.gate.weight = tensor_at(task.reads, 1);
    }
  }
  void operator()(const Expert&) const {
    if (backward()) {
      found.expert.gradient = tensor_at(task.writes, 1);
    } else {
      found.expert.weight = tensor_at(task.reads, 1);
    }
  }
  void operator()(const Elementwise& elementwise) const {
    if (elementwise.operation == ElementwiseOperation::kLoss) {
      found.output[task.micro_batch] = tensor_at(task.reads, 0);
      found.target[task.micro_batch] = tensor_at(task.reads, 1);
    }
  }
  template <typename Other>
  void operator()(const Other&) const {}
};

ModelTensors find_model_tensors(const Program& program) {
  ModelTensors found;
  for (const Task& task : program.tasks) {
    std::visit(Finder{task, found}, task.descriptor);
  }
  return found;
}

// The tokens of all micro-batches, one behind the other.
Matrix gather_tokens(const TensorStore& store, const ModelTensors::ByMicroBatch& tensors) {
  Matrix matrix;
  for (const auto& [micro_batch, tensor] : tensors) {
    const GlobalShape shape = global_shape(store.program(), tensor);
    const std::vector<float> values = gather_tensor(store, tensor);
    matrix.rows += shape.blocks * shape.rows;
    matrix.columns = shape.columns;
    matrix.values.insert(matrix.values.end(), values.begin(), values.end());
  }
  return matrix;
}

// The (token, expert) pairs that the gates of the forward pass gave a slot to.
std::vector<std::vector<Assignment>> gather_assignments(const RowMap& map,
                                                        int layers,
                                                        const TensorStore& store) {
  std::vector<std::set<Assignment>> found(static_cast<size_t>(layers));
  for (const GateInput& input : trace_gate_inputs(map)) {
    const Task& task = map.program().tasks[static_cast<size_t>(input.task)];
    const auto& experts = std::get<Gate>(task.descriptor).experts;
    const Region& index = task.writes[1];
    const std::vector<RowSpan> spans = map.spans(task, index, Use::kWrite, input.rank);
    for (size_t block = 0; block < spans.size(); ++block) {
      for (int64_t i = 0; i < spans[block].valid; ++i) {
        const int64_t row = *store.indices(input.rank, index.tensor, spans[block].first + i);
        if (0 <= row && row < static_cast<int64_t>(input.tokens.size())) {
          found[static_cast<size_t>(task.layer)].emplace(input.tokens[static_cast<size_t>(row)],
                                                         experts[block]);
        }
      }
    }
  }
  std::vector<std::vector<Assignment>> assignments;
  for (const std::set<Assignment>& layer : found) {
    assignments.emplace_back(layer.begin(), layer.end());
  }
  return assignments;
}

}  // namespace

ReferenceInputs reference_inputs(const RowMap& map,
                                 const ModelConfig& model,
                                 const ParallelConfig& parallel,
                                 const TensorStore& store) {
  const ModelTensors tensors = find_model_tensors(map.program());
  const GlobalWeights weights{gather_tensor(store, tensors.dense.weight),
                              gather_tensor(store, tensors.gate.weight),
                              gather_tensor(store, tensors.expert.weight)};
  return {gather_tokens(store, tensors.input),
          gather_tokens(store, tensors.target),
          from_global(model, parallel, weights),
          capacity_domains(map)};
}

ReferenceResults gather_results(const RowMap& map,
                                const ModelConfig& model,
                                const ParallelConfig& parallel,
                                const TensorStore& store) {
  const ModelTensors tensors = find_model_tensors(map.program());
  const auto gather = [&](int ModelTensors::Parameters::*member) {
    return from_global(model,
                       parallel,
                       {gather_tensor(store, tensors.dense.*member),
                        gather_tensor(store, tensors.gate.*member),
                        gather_tensor(store, tensors.expert.*member)});
  };
  return {gather_tokens(store, tensors.output),
          gather_tokens(store, tensors.d_input),
          gather(&ModelTensors::Parameters::gradient),
          gather(&ModelTensors::Parameters::weight),
          gather_assignments(map, model.layers, store)};
}

}  // namespace moesim
