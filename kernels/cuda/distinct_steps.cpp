#include "kernels/cuda/distinct_steps.h"

#include <utility>
#include <variant>

namespace moesim {

void DistinctSteps::add(const std::vector<DeviceStep>& steps) {
  for (const DeviceStep& step : steps) {
    std::visit([&](const auto& action) { add_action(step, action); }, step.action);
  }
}

template <typename Action>
void DistinctSteps::add_action(const DeviceStep& step, const Action& action) {
  if (is_new(action)) {
    steps_.push_back(step);
  }
}

void DistinctSteps::add_action(const DeviceStep&, const Products& products) {
  for (const Product& product : products.products) {
    if (is_new(product)) {
      steps_.push_back(products_step({{product}}));
    }
  }
}

bool DistinctSteps::is_new(const Fill&) {
  return !std::exchange(has_fill_, true);
}

bool DistinctSteps::is_new(const Copy&) {
  return !std::exchange(has_copy_, true);
}

bool DistinctSteps::is_new(const Kernel& kernel) {
  return kernels_.insert(kernel.body.index()).second;
}

// One of no depth that is added launches nothing.
bool DistinctSteps::is_new(const Product& product) {
  if (product.depth() == 0) {
    return !product.add && !std::exchange(has_fill_of_rows_, true);
  }
  return products_.emplace(ProductShape(product), product.add).second;
}

bool DistinctSteps::is_new(const FusedAttention& attention) {
  return attentions_.emplace(attention).second;
}

bool DistinctSteps::is_new(const FusedAttentionBackward& attention) {
  return attentions_.emplace(attention).second;
}

}  // namespace moesim
