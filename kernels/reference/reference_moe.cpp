#include "kernels/reference/reference_moe.h"

#include <algorithm>

#include "kernels/core/activation.h"
#include "kernels/core/token_rows.h"

namespace moesim {

void ReferenceMoe::forward(size_t index, const Matrix& x) {
  Expert& expert = experts_[index];
  const auto rows = static_cast<int64_t>(expert.slots.size());
  expert.x = Matrix(rows, x.columns);
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(x.row(expert.slots[static_cast<size_t>(i)].token), x.columns, expert.x.row(i));
  }
  expert.x = rounded(std::move(expert.x), rounding_);
  expert.hidden = Matrix(rows, swiglu() ? 2 * model_->hidden : model_->hidden);
  add_block(expert.x * transposed(weights_->w1[index]), 0, 0, expert.hidden);
  if (swiglu()) {
    add_block(expert.x * transposed(weights_->w3[index]), 0, model_->hidden, expert.hidden);
  }
  expert.y = rounded(activated(expert) * weights_->w2[index], rounding_);
}

Matrix ReferenceMoe::activated(const Expert& expert) const {
  Matrix result(expert.hidden.rows, model_->hidden);
  for (int64_t i = 0; i < result.rows; ++i) {
    for (int column = 0; column < model_->hidden; ++column) {
      result.row(i)[column] =
          activation(HiddenRow{expert.hidden.row(i), model_->hidden, swiglu()}, column, rounding_);
    }
  }
  return result;
}

Matrix ReferenceMoe::forward(const Matrix& x, const std::vector<CapacityDomain>& domains) {
  experts_.clear();
  for (std::vector<Slot>& slots : gate_.forward(x, domains)) {
    experts_.push_back({std::move(slots), {}, {}, {}});
  }
  Matrix y(x.rows, x.columns);
  for (size_t index = 0; index < experts_.size(); ++index) {
    forward(index, x);
    const Expert& expert = experts_[index];
    for (size_t i = 0; i < expert.slots.size(); ++i) {
      const Slot& slot = expert.slots[i];
      const float weight = rounded(slot.weight, rounding_);
      for (int64_t column = 0; column < y.columns; ++column) {
        y.row(slot.token)[column] += weight * expert.y.row(static_cast<int64_t>(i))[column];
      }
    }
  }
  return y;
}

// From the gradient of the expert's result to that of its input.
Matrix ReferenceMoe::backward(size_t index, const Matrix& dy, LayerWeights& gradients) const {
  const Expert& expert = experts_[index];
  const int64_t width = model_->hidden;
  gradients.w2[index] += transposed(activated(expert)) * dy;
  const Matrix d_activated = dy * transposed(weights_->w2[index]);
  Matrix d_gate(dy.rows, width);
  Matrix d_linear(dy.rows, width);
  for (int64_t i = 0; i < dy.rows; ++i) {
    const HiddenRow hidden{expert.hidden.row(i), model_->hidden, swiglu()};
    for (int column = 0; column < model_->hidden; ++column) {
      const HiddenGradient d =
          activation_gradient(hidden, column, d_activated.row(i)[column], rounding_);
      d_gate.row(i)[column] = d.gate;
      d_linear.row(i)[column] = d.linear;
    }
  }
  gradients.w1[index] += transposed(d_gate) * expert.x;
  Matrix dx = d_gate * weights_->w1[index];
  if (swiglu()) {
    gradients.w3[index] += transposed(d_linear) * expert.x;
    dx += d_linear * weights_->w3[index];
  }
  return dx;
}

Matrix ReferenceMoe::backward(const Matrix& dy, LayerWeights& gradients) const {
  const Matrix d_output = rounded(dy, rounding_);
  Matrix dx(dy.rows, dy.columns);
  Matrix d_weights(dy.rows, model_->experts);
  BlockScratch<kWideBlockThreads> scratch;
  for (size_t index = 0; index < experts_.size(); ++index) {
    const Expert& expert = experts_[index];
    Matrix d_y(expert.y.rows, expert.y.columns);
    for (size_t i = 0; i < expert.slots.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const Slot& slot = expert.slots[i];
      const float weight = rounded(slot.weight, rounding_);
      for (int64_t column = 0; column < d_y.columns; ++column) {
        d_y.row(row)[column] = weight * d_output.row(slot.token)[column];
      }
      d_weights.row(slot.token)[index] = dot_rows(scratch,
                                                  expert.y.row(row),
                                                  d_output.row(slot.token),
                                                  static_cast<int>(d_y.columns),
                                                  Rounding::kOff);
    }
    const Matrix d_x = backward(index, rounded(std::move(d_y), rounding_), gradients);
    for (size_t i = 0; i < expert.slots.size(); ++i) {
      add_block(
          block(d_x, static_cast<int64_t>(i), 0, 1, d_x.columns), expert.slots[i].token, 0, dx);
    }
  }
  gate_.backward(d_weights, dx, gradients.gate);
  return dx;
}

std::vector<Assignment> ReferenceMoe::assignments() const {
  std::vector<Assignment> assignments;
  for (size_t index = 0; index < experts_.size(); ++index) {
    for (const Slot& slot : experts_[index].slots) {
      assignments.emplace_back(slot.token, static_cast<int>(index));
    }
  }
  std::sort(assignments.begin(), assignments.end());
  return assignments;
}

}  // namespace moesim
