// Expert shards: y = q(act(q(x) w1^T)) w2 for every expert of the rank, or SwiGLU.
#include <algorithm>

#include "kernels/core/activation.h"
#include "kernels/operations/expert_matrices.h"
#include "kernels/operations/make.h"

namespace moesim {
namespace {

// What forward and backward share. Weights stand from read `first_weight` on.
class ExpertBase : public Operation {
 protected:
  ExpertBase(const TaskSite& site, size_t first_weight)
      : rounding_(site.rounding),
        swiglu_(std::get<Expert>(site.task->descriptor).swiglu),
        weight_of_block_(weight_of_block(std::get<Expert>(site.task->descriptor).experts)),
        x_(read_operand(site, first_weight == 1 ? 0 : 1, "x")) {
    require(site, x_.spans.size() == weight_of_block_.size(), "it names no expert for each block");
    num_experts_ = 1 + *std::max_element(weight_of_block_.begin(), weight_of_block_.end());
    constexpr const char* kNames[] = {"w1", "w2", "w3"};
    for (size_t i = 0; i < num_weights(); ++i) {
      weights_.emplace_back(
          site, read_operand(site, first_weight + i, kNames[i]), num_experts_, x_.columns);
      require(site, weights_[i].rows() == weights_[0].rows(), "its weights differ in size");
    }
  }

  size_t num_weights() const { return swiglu_ ? 3 : 2; }
  int width() const { return static_cast<int>(weights_.front().rows()); }
  int hidden_columns() const { return swiglu_ ? 2 * width() : width(); }
  void require_rows(const TaskSite& site, const Operand& operand, int columns) const {
    require(site, operand.columns == columns, "an operand has the wrong columns");
    require(site, operand.spans.size() == x_.spans.size(), "its operands differ in blocks");
    for (size_t block = 0; block < x_.spans.size(); ++block) {
      require(
          site, operand.spans[block].valid == x_.spans[block].valid, "its operands differ in rows");
    }
  }

  // q(act(hidden)) of some rows.
  void activate(const float* hidden, int64_t rows, std::vector<float>& to) const {
    to.resize(static_cast<size_t>(rows * width()));
    for (int64_t row = 0; row < rows; ++row) {
      const HiddenRow at{hidden + row * hidden_columns(), width(), swiglu_};
      for (int column = 0; column < width(); ++column) {
        to[static_cast<size_t>(row * width() + column)] = activation(at, column, rounding_);
      }
    }
  }

  Rounding rounding_;
  bool swiglu_;
  std::vector<int> weight_of_block_;
  int num_experts_ = 0;
  Operand x_;
  std::vector<ExpertMatrices> weights_;  // w1, w2[, w3]
};

class ExpertForward : public ExpertBase {
 public:
  explicit ExpertForward(const TaskSite& site) : ExpertBase(site, 1) {
    has_output_ = site.task->writes.size() > 1;
    hidden_ = write_operand(site, has_output_ ? 1 : 0, "hidden");
    require_rows(site, hidden_, hidden_columns());
    if (has_output_) {
      y_ = write_operand(site, 0, "y");
      require_rows(site, y_, x_.columns);
    }
  }

  void run(TensorStore& tensors) const override {
    std::vector<float> buffer;
    for (size_t block = 0; block < x_.spans.size(); ++block) {
      const RowRun rows = x_.block(block);
      const int expert = weight_of_block_[block];
      const MatrixView x{
          rounded_rows(x_, rows, rounding_, tensors, buffer), rows.count, x_.columns};
      float* hidden = hidden_.row(tensors, hidden_.block(block).first);
      multiply(x, weights_[0].view(tensors, expert).transposed(), {hidden, hidden_columns()});
      if (swiglu_) {
        multiply(x,
                 weights_[2].view(tensors, expert).transposed(),
                 {hidden + width(), hidden_columns()});
      }
      if (has_output_) {
        activate(hidden, rows.count, buffer);
        multiply({buffer.data(), rows.count, width()},
                 weights_[1].view(tensors, expert),
                 {y_.row(tensors, y_.block(block).first), y_.columns});
      }
    }
  }

 private:
  bool has_output_ = false;
  Operand hidden_;
  Operand y_;
};

class ExpertBackward : public ExpertBase {
 public:
  explicit ExpertBackward(const TaskSite& site)
      : ExpertBase(site, 3),
        dy_(read_operand(site, 0, "dy")),
        hidden_(read_operand(site, 2, "hidden")),
        dx_(write_operand(site, 0, "dx")) {
    require_rows(site, dy_, x_.columns);
    require_rows(site, dx_, x_.columns);
    require_rows(site, hidden_, hidden_columns());
    constexpr const char* kNames[] = {"dw1", "dw2", "dw3"};
    for (size_t i = 0; i < num_weights(); ++i) {
      d_weights_.emplace_back(
          site, sum_operand(site, 1 + i, kNames[i], 3 + num_weights()), num_experts_, x_.columns);
    }
  }

  void run(TensorStore& tensors) const override {
    for (const ExpertMatrices& d_weight : d_weights_) {
      begin_sum(d_weight.operand(), tensors);
    }
    for (size_t block = 0; block < x_.spans.size(); ++block) {
      run_block(block, tensors);
    }
  }

 private:
  void run_block(size_t block, TensorStore& tensors) const {
    const RowRun rows = x_.block(block);
    const int expert = weight_of_block_[block];
    std::vector<float> x_buffer;
    std::vector<float> dy_buffer;
    const MatrixView x{
        rounded_rows(x_, rows, rounding_, tensors, x_buffer), rows.count, x_.columns};
    const MatrixView dy{rounded_rows(dy_, dy_.block(block), rounding_, tensors, dy_buffer),
                        rows.count,
                        dy_.columns};
    const float* hidden = hidden_.row(tensors, hidden_.block(block).first);

    std::vector<float> activated;
    activate(hidden, rows.count, activated);
    multiply(MatrixView{activated.data(), rows.count, width()}.transposed(),
             dy,
             {d_weights_[1].data(tensors, expert), x_.columns, true});

    std::vector<float> d_hidden(static_cast<size_t>(rows.count * hidden_columns()));
    multiply(
        dy, weights_[1].view(tensors, expert).transposed(), {d_hidden.data(), hidden_columns()});
    differentiate(hidden, rows.count, d_hidden);

    float* dx = dx_.row(tensors, dx_.block(block).first);
    for (const size_t i : {size_t{0}, size_t{2}}) {
      if (i < num_weights()) {
        const MatrixView d{
            d_hidden.data() + (i == 0 ? 0 : width()), rows.count, width(), hidden_columns()};
        multiply(d.transposed(), x, {d_weights_[i].data(tensors, expert), x_.columns, true});
        multiply(d, weights_[i].view(tensors, expert), {dx, dx_.columns, i > 0});
      }
    }
  }

  // The gradient of the activation, in the first `width` columns, becomes that of the hidden
  // values.
  void differentiate(const float* hidden, int64_t rows, std::vector<float>& d_hidden) const {
    for (int64_t row = 0; row < rows; ++row) {
      const HiddenRow at{hidden + row * hidden_columns(), width(), swiglu_};
      float* d = d_hidden.data() + row * hidden_columns();
      for (int column = 0; column < width(); ++column) {
        const HiddenGradient gradient = activation_gradient(at, column, d[column], rounding_);
        d[column] = gradient.gate;
        if (swiglu_) {
          d[width() + column] = gradient.linear;
        }
      }
    }
  }

  Operand dy_;
  Operand hidden_;
  Operand dx_;
  std::vector<ExpertMatrices> d_weights_;  // of w1, w2[, w3]
};

}  // namespace

std::unique_ptr<Operation> make_expert_forward(const TaskSite& site) {
  return std::make_unique<ExpertForward>(site);
}

std::unique_ptr<Operation> make_expert_backward(const TaskSite& site) {
  return std::make_unique<ExpertBackward>(site);
}

}  // namespace moesim
