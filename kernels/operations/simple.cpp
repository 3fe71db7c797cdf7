// slice, replicate, local_sum; elementwise; optimizer.
#include <algorithm>

#include "kernels/apply_moves.h"
#include "kernels/core/optimizer.h"
#include "kernels/global_tensor.h"
#include "kernels/operations/make.h"

namespace moesim {
namespace {

class LocalMoves : public Operation {
 public:
  explicit LocalMoves(const TaskSite& site)
      : rank_(site.rank), plan_(plan_local(*site.map, *site.task, site.rank)) {}

  void run(TensorStore& tensors) const override { MoveRunner(plan_, {rank_}, tensors).run(); }

 private:
  int rank_;
  MovePlan plan_;
};

// Walks over the elements of operands of equal size, whatever their shapes.
template <typename Body>
void for_each_element(const std::vector<Operand>& operands,
                      TensorStore& tensors,
                      const Body& body) {
  std::vector<std::vector<int64_t>> rows;
  for (const Operand& operand : operands) {
    rows.push_back(operand.rows());
  }
  std::vector<float*> at(operands.size());
  const int64_t count = operands.front().num_rows() * operands.front().columns;
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      const int64_t columns = operands[k].columns;
      if (i % columns == 0) {
        at[k] = operands[k].row(tensors, rows[k][static_cast<size_t>(i / columns)]);
      }
    }
    body(at);
    for (float*& element : at) {
      ++element;
    }
  }
}

// The output stands first among the operands.
class ElementwiseOp : public Operation {
 public:
  explicit ElementwiseOp(const TaskSite& site)
      : operation_(std::get<Elementwise>(site.task->descriptor).operation),
        rounding_(site.rounding) {
    operands_.push_back(write_operand(site, 0, "output"));
    for (size_t i = 0; i < site.task->reads.size(); ++i) {
      operands_.push_back(read_operand(site, i, "input"));
    }
    require(site, operands_.size() > 1, "it has no input");
    for (const Operand& operand : operands_) {
      require(site,
              operand.num_rows() * operand.columns ==
                  operands_.front().num_rows() * operands_.front().columns,
              "its operands differ in size");
    }
    holds_loss_ = place_of(site.program(), site.map->groups(), operands_.front().tensor, site.rank)
                      .first_partial;
  }

  void run(TensorStore& tensors) const override {
    for_each_element(
        operands_, tensors, [this](const std::vector<float*>& at) { *at[0] = value(at); });
  }

 private:
  float value(const std::vector<float*>& at) const {
    switch (operation_) {
      case ElementwiseOperation::kCopy:
        return *at[1];
      case ElementwiseOperation::kAdd: {
        float sum = 0;
        for (size_t k = 1; k < at.size(); ++k) {
          sum += *at[k];
        }
        return sum;
      }
      // Half the squared distance to a target: the gradient of the output is output - target. A
      // partial gradient is held by the first member, the others add nothing.
      case ElementwiseOperation::kLoss: {
        const float target = at.size() > 2 ? *at[2] : 0.0F;
        return holds_loss_ ? rounded(*at[1], rounding_) - target : 0.0F;
      }
    }
    return 0;
  }

  ElementwiseOperation operation_;
  Rounding rounding_;
  std::vector<Operand> operands_;
  bool holds_loss_ = true;
};

class OptimizerOp : public Operation {
 public:
  explicit OptimizerOp(const TaskSite& site)
      : algorithm_(std::get<Optimizer>(site.task->descriptor).algorithm) {
    const size_t num_reads = site.task->reads.size();
    const size_t num_writes = site.task->writes.size();
    require(site, num_reads > num_writes, "it has no gradients");
    const size_t num_weights = num_reads - num_writes;
    require(site, num_weights <= num_writes, "it has more gradients than weights");
    for (size_t i = 0; i < num_weights; ++i) {
      Step& step = steps_.emplace_back();
      step.operands = {write_operand(site, i, "weights"), read_operand(site, i, "gradients")};
      require(site, step.elements(0) == step.elements(1), "gradients and weights differ in size");
      if (num_weights + i < num_writes) {
        step.state = write_operand(site, num_weights + i, "state");
        require(site, step.fits_state(), "its state is no multiple of its weights");
      }
    }
    require(site,
            algorithm_ == OptimizerAlgorithm::kSgd || steps_.front().state_copies() >= 2,
            "Adam needs two moments of each weight");
  }

  void run(TensorStore& tensors) const override {
    for (const Step& step : steps_) {
      this->run(step, tensors);
    }
  }

 private:
  // The state of a row of weights: its first moments, its second moments, and the copy that an
  // optimizer of weights in low precision keeps.
  struct Step {
    std::vector<Operand> operands;  // weights, gradients
    Operand state;

    int64_t elements(size_t i) const { return operands[i].num_rows() * operands[i].columns; }
    int state_copies() const {
      return state.tensor == kNone ? 0 : state.columns / operands.front().columns;
    }
    bool fits_state() const {
      return state.columns % operands.front().columns == 0 &&
             state.num_rows() == operands.front().num_rows();
    }
  };

  void run(const Step& step, TensorStore& tensors) const {
    const std::vector<int64_t> weight_rows = step.operands[0].rows();
    const std::vector<int64_t> gradient_rows = step.operands[1].rows();
    const std::vector<int64_t> state_rows = step.state.rows();
    const int columns = step.operands.front().columns;
    const int copies = step.state_copies();
    for (size_t row = 0; row < weight_rows.size(); ++row) {
      float* weights = step.operands[0].row(tensors, weight_rows[row]);
      const float* gradients = step.operands[1].row(tensors, gradient_rows[row]);
      float* state = copies == 0 ? nullptr : step.state.row(tensors, state_rows[row]);
      for (int i = 0; i < columns; ++i) {
        weights[i] = stepped(weights[i], gradients[i], state, i, columns);
      }
      if (copies == num_moments() + 1) {
        std::copy_n(weights, columns, state + num_moments() * columns);
      }
    }
  }

  int num_moments() const { return algorithm_ == OptimizerAlgorithm::kAdam ? 2 : 0; }

  float stepped(float weight, float gradient, float* state, int i, int columns) const {
    if (algorithm_ == OptimizerAlgorithm::kSgd) {
      return sgd_step(weight, gradient);
    }
    AdamMoments moments{state[i], state[columns + i]};
    const float result = adam_step(weight, gradient, moments);
    state[i] = moments.first;
    state[columns + i] = moments.second;
    return result;
  }

  OptimizerAlgorithm algorithm_;
  std::vector<Step> steps_;
};

}  // namespace

std::unique_ptr<Operation> make_local_moves(const TaskSite& site) {
  require(site,
          site.task->reads.size() == site.task->writes.size(),
          "what it reads and writes comes in pairs");
  return std::make_unique<LocalMoves>(site);
}

std::unique_ptr<Operation> make_elementwise(const TaskSite& site) {
  return std::make_unique<ElementwiseOp>(site);
}

std::unique_ptr<Operation> make_optimizer(const TaskSite& site) {
  return std::make_unique<OptimizerOp>(site);
}

}  // namespace moesim
