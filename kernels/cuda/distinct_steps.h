#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "kernels/cuda/product_plan.h"
#include "kernels/device/device_step.h"

namespace moesim {

// Steps that launch all that others do, each thing once, in the order in which it first appears:
// each of our kernels, whatever its arguments; a product of each shape, plain and added; a fused
// attention of each layout; a fill, a copy and a product of no depth, which is a fill of rows. That
// CUDA and its libraries load nothing else for others of the same kind is how they are documented,
// not measured.
class DistinctSteps {
 public:
  void add(const std::vector<DeviceStep>& steps);

  const std::vector<DeviceStep>& steps() const { return steps_; }

 private:
  bool is_new(const Fill& fill);
  bool is_new(const Copy& copy);
  bool is_new(const Kernel& kernel);
  bool is_new(const Product& product);
  bool is_new(const FusedAttention& attention);
  bool is_new(const FusedAttentionBackward& attention);
  template <typename Action>
  void add_action(const DeviceStep& step, const Action& action);
  void add_action(const DeviceStep& step, const Products& products);

  std::vector<DeviceStep> steps_;
  bool has_fill_ = false;
  bool has_copy_ = false;
  bool has_fill_of_rows_ = false;
  std::set<size_t> kernels_;                          // by index of the body
  std::set<std::pair<ProductShape, bool>> products_;  // and whether it is added
  std::set<AttentionLayout> attentions_;
};

}  // namespace moesim
