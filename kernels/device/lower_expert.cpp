// Expert shards: y = q(act(q(x) w1^T)) w2 for every expert of the rank, or SwiGLU. The products of
// all blocks are one group.
#include <algorithm>

#include "kernels/device/lower_kinds.h"
#include "kernels/operations/expert_matrices.h"

namespace moesim {
namespace {

// What forward and backward share. Weights stand from read `first_weight` on.
class ExpertLowering {
 public:
  ExpertLowering(TaskLowering& lowering, size_t first_weight)
      : task(lowering),
        swiglu(expert().swiglu),
        x(read_operand(task.site(), first_weight == 1 ? 0 : 1, "x")),
        weight_of_block_(weight_of_block(expert().experts)) {
    num_experts = 1 + *std::max_element(weight_of_block_.begin(), weight_of_block_.end());
    constexpr const char* kNames[] = {"w1", "w2", "w3"};
    for (size_t i = 0; i < num_weights(); ++i) {
      const Operand operand = read_operand(task.site(), first_weight + i, kNames[i]);
      weights_.push_back(task.factor(operand, Rounding::kOff));
      width = static_cast<int>(operand.num_rows() / num_experts);
    }
    for (const RowSpan& span : x.spans) {
      first_row_.push_back(rows);
      rows += span.valid;
    }
  }

  size_t num_weights() const { return swiglu ? 3 : 2; }
  int hidden_columns() const { return swiglu ? 2 * width : width; }

  int expert_of(size_t block) const { return weight_of_block_[block]; }
  // Where the block's rows begin in lists of rows.
  int64_t first_row(size_t block) const { return first_row_[block]; }
  int64_t num_rows(size_t block) const { return x.spans[block].valid; }
  // The (width, M) matrix of the block's expert.
  DeviceMatrix weight(size_t i, size_t block) const {
    const int64_t first = int64_t{expert_of(block)} * width;
    return matrix(weights_[i].row(first), width, x.columns);
  }
  DeviceMatrix block_of(const FactorRows& factor, size_t block) const {
    if (num_rows(block) == 0) {
      return matrix({}, 0, factor.columns);
    }
    return matrix(factor.row(first_row(block)), num_rows(block), factor.columns);
  }

  // The activations of all rows, packed.
  FactorRows activated(const Operand& hidden) const {
    const Elements to = task.space().scratch(task.factor_type(), rows * width);
    task.kernel(Activate{task.rows(hidden), width, swiglu, task.rounding(), to}, rows);
    return {to, width, {}};
  }

  // Adds make(block) for every block to one group.
  template <typename Make>
  void multiply_blocks(const Make& make) const {
    std::vector<Product> products;
    for (size_t block = 0; block < x.spans.size(); ++block) {
      make(block, products);
    }
    task.multiply(products);
  }

  TaskLowering& task;
  bool swiglu;
  Operand x;
  int num_experts = 0;
  int width = 0;
  int64_t rows = 0;

 private:
  const Expert& expert() const { return std::get<Expert>(task.site().task->descriptor); }

  std::vector<int> weight_of_block_;
  std::vector<FactorRows> weights_;  // w1, w2[, w3]
  std::vector<int64_t> first_row_;
};

}  // namespace

void lower_expert_forward(TaskLowering& task) {
  const TaskSite& site = task.site();
  const ExpertLowering expert(task, 1);
  const bool has_output = site.task->writes.size() > 1;
  const Operand hidden = write_operand(site, has_output ? 1 : 0, "hidden");
  const FactorRows x = task.factor(expert.x, task.rounding());
  expert.multiply_blocks([&](size_t block, std::vector<Product>& products) {
    const Elements to = task.at(hidden, hidden.block(block).first);
    const DeviceMatrix left = expert.block_of(x, block);
    products.push_back({left, expert.weight(0, block).transposed(), to, hidden.columns});
    if (expert.swiglu) {
      products.push_back(
          {left, expert.weight(2, block).transposed(), to.from(expert.width), hidden.columns});
    }
  });
  if (!has_output) {
    return;
  }
  const Operand y = write_operand(site, 0, "y");
  const FactorRows activated = expert.activated(hidden);
  expert.multiply_blocks([&](size_t block, std::vector<Product>& products) {
    products.push_back({expert.block_of(activated, block),
                        expert.weight(1, block),
                        task.at(y, y.block(block).first),
                        y.columns});
  });
}

namespace {

// The gradients of w1, w2[, w3], which begin as zeros where nothing is there yet.
std::vector<ExpertMatrices> weight_gradients(const ExpertLowering& expert) {
  const TaskSite& site = expert.task.site();
  std::vector<ExpertMatrices> gradients;
  constexpr const char* kNames[] = {"dw1", "dw2", "dw3"};
  for (size_t i = 0; i < expert.num_weights(); ++i) {
    const Operand operand = sum_operand(site, 1 + i, kNames[i], 3 + expert.num_weights());
    expert.task.begin_sum(operand);
    gradients.emplace_back(site, operand, expert.num_experts, expert.x.columns);
  }
  return gradients;
}

// The product is added to the gradient of the block's expert.
Product gradient_product(const ExpertLowering& expert,
                         const ExpertMatrices& gradients,
                         size_t block,
                         const DeviceMatrix& d_rows,
                         const DeviceMatrix& rows) {
  const Operand& operand = gradients.operand();
  return {.left = d_rows.transposed(),
          .right = rows,
          .target = expert.task.at(operand, gradients.first(expert.expert_of(block))),
          .target_stride = operand.columns,
          .add = true};
}

}  // namespace

void lower_expert_backward(TaskLowering& task) {
  const TaskSite& site = task.site();
  const ExpertLowering expert(task, 3);
  const Operand dy_operand = read_operand(site, 0, "dy");
  const Operand hidden = read_operand(site, 2, "hidden");
  const Operand dx = write_operand(site, 0, "dx");
  const std::vector<ExpertMatrices> gradients = weight_gradients(expert);
  const FactorRows x = task.factor(expert.x, task.rounding());
  const FactorRows dy = task.factor(dy_operand, task.rounding());
  const FactorRows activated = expert.activated(hidden);
  const int64_t columns = expert.hidden_columns();
  const Elements d_hidden = task.space().scratch(task.factor_type(), expert.rows * columns);
  const auto d_hidden_block = [&](size_t block, int first_column) {
    return DeviceMatrix{d_hidden.from(expert.first_row(block) * columns + first_column),
                        expert.num_rows(block),
                        expert.width,
                        columns,
                        false};
  };
  expert.multiply_blocks([&](size_t block, std::vector<Product>& products) {
    const DeviceMatrix d = expert.block_of(dy, block);
    products.push_back(
        gradient_product(expert, gradients[1], block, expert.block_of(activated, block), d));
    products.push_back(
        {d, expert.weight(1, block).transposed(), d_hidden_block(block, 0).at, columns});
  });
  task.kernel(
      DifferentiateHidden{
          task.rows(hidden), expert.width, expert.swiglu, task.rounding(), d_hidden},
      expert.rows);
  expert.multiply_blocks([&](size_t block, std::vector<Product>& products) {
    for (const size_t i : {size_t{0}, size_t{2}}) {
      if (i < expert.num_weights()) {
        const DeviceMatrix d = d_hidden_block(block, i == 0 ? 0 : expert.width);
        products.push_back(
            gradient_product(expert, gradients[i], block, d, expert.block_of(x, block)));
        products.push_back({.left = d,
                            .right = expert.weight(i, block),
                            .target = task.at(dx, dx.block(block).first),
                            .target_stride = dx.columns,
                            .add = i > 0});
      }
    }
  });
}

}  // namespace moesim
