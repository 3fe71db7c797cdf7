#pragma once

#include <vector>

#include "kernels/device/blocks/device_rows.h"
#include "kernels/device/device_step.h"
#include "kernels/device/lowering_space.h"
#include "kernels/device/pieces.h"
#include "kernels/operations/operand.h"

namespace moesim {

// Rows of an operand that products take as a factor: where they stand, or a rounded or converted
// copy of them in scratch memory, one behind the other.
struct FactorRows {
  Elements first;
  int64_t columns = 0;
  std::vector<int64_t> places;  // of the rows in the buffer; empty: a copy

  // The i-th row of the operand's list.
  Elements row(int64_t i) const {
    return first.from((places.empty() ? i : places[static_cast<size_t>(i)]) * columns);
  }
};

// What the lowerings of all kinds of tasks share: the steps so far and how to add some.
class TaskLowering {
 public:
  TaskLowering(const TaskSite& site, LoweringSpace& space);

  const TaskSite& site() const { return *site_; }
  Rounding rounding() const { return site_->rounding; }
  LoweringSpace& space() { return *space_; }
  std::vector<DeviceStep> steps() && { return std::move(steps_); }

  // Of factors of products: BF16 where one of the task's tensors is.
  ElementType factor_type() const { return factor_type_; }

  // Row `row` of the operand's buffer.
  Elements at(const Operand& operand, int64_t row) const;
  std::vector<ElementRun> runs(const Operand& operand) const;
  // The operand's list of rows.
  DeviceRows rows(const Operand& operand);
  DeviceIndex index(const Operand& operand);

  // Puts zeros where the sum begins.
  void begin_sum(const Operand& sum);
  // Elements of `runs`, rounded and of a type, one behind the other: where they stand if that is so
  // already.
  Elements packed(const std::vector<ElementRun>& runs, Rounding rounding, ElementType type);
  Elements packed(const Operand& operand, Rounding rounding, ElementType type);
  // The operand's rows as a factor, rounded as the task does; weights never are.
  FactorRows factor(const Operand& operand, Rounding rounding);

  // Adds a kernel, unless it has no blocks (`slots` as in bytes_of); the others likewise. Products
  // without elements, and those of depth 0 that are added, are left out.
  void kernel(const KernelBody& body, int64_t blocks, int64_t slots = 0);
  void combine(const PieceList& pieces, Combination combination, Rounding rounding);
  void fill(const Fill& fill);
  void multiply(const std::vector<Product>& products);
  template <typename Fused>
  void attend(const Fused& attention) {
    steps_.push_back(attention_step(attention));
  }

  template <typename Element>
  Element* scratch(int64_t elements) {
    const auto bytes = elements * static_cast<int64_t>(sizeof(Element));
    return reinterpret_cast<Element*>(space_->scratch(bytes));
  }

 private:
  RowTable table(const Operand& operand);

  const TaskSite* site_;
  LoweringSpace* space_;
  ElementType factor_type_ = ElementType::kFloat32;
  std::vector<DeviceStep> steps_;
};

// FP32 elements of scratch memory.
inline Elements floats(const float* first) {
  return {reinterpret_cast<DeviceAddress>(first), ElementType::kFloat32};
}

// A matrix whose rows stand one behind the other.
inline DeviceMatrix matrix(const Elements& at, int64_t rows, int64_t columns) {
  return {at, rows, columns, columns, false};
}

}  // namespace moesim
