#include "kernels/device/task_lowering.h"

#include <algorithm>

#include "kernels/device/kernel_bytes.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

bool has_bfloat16(const TaskSite& site, const LoweringSpace& space) {
  const auto is_bfloat16 = [&](const Region& region) {
    const Tensor& tensor = site.program().tensors[static_cast<size_t>(region.tensor)];
    return element_type(tensor, space.storage()) == ElementType::kBfloat16;
  };
  return std::ranges::any_of(site.task->reads, is_bfloat16) ||
         std::ranges::any_of(site.task->writes, is_bfloat16);
}

bool does_something(const Product& product) {
  return product.rows() > 0 && product.columns() > 0 && (product.depth() > 0 || !product.add);
}

}  // namespace

TaskLowering::TaskLowering(const TaskSite& site, LoweringSpace& space)
    : site_(&site),
      space_(&space),
      factor_type_(has_bfloat16(site, space) ? ElementType::kBfloat16 : ElementType::kFloat32) {
  space.begin_task({site.rank, site.task->stream});
}

Elements TaskLowering::at(const Operand& operand, int64_t row) const {
  return space_->tensor(operand.rank, operand.tensor, row);
}

std::vector<ElementRun> TaskLowering::runs(const Operand& operand) const {
  std::vector<ElementRun> runs;
  for (const RowRun& run : operand.runs()) {
    runs.push_back({at(operand, run.first), run.count * operand.columns});
  }
  return runs;
}

RowTable TaskLowering::table(const Operand& operand) {
  const std::vector<RowRun> runs = operand.runs();
  if (runs.size() == 1) {
    return {nullptr, runs.front().first};
  }
  const std::vector<int64_t> rows = operand.rows();
  return {space_->numbers({rows.begin(), rows.end()}), 0};
}

DeviceRows TaskLowering::rows(const Operand& operand) {
  return {at(operand, 0), operand.columns, table(operand)};
}

DeviceIndex TaskLowering::index(const Operand& operand) {
  return {reinterpret_cast<int32_t*>(at(operand, 0).address), table(operand)};
}

void TaskLowering::begin_sum(const Operand& sum) {
  if (sum.is_continued) {
    return;
  }
  for (const ElementRun& run : runs(sum)) {
    fill({run.at.address, run.count * size_of(run.at.type), 0});
  }
}

Elements TaskLowering::packed(const std::vector<ElementRun>& runs,
                              Rounding rounding,
                              ElementType type) {
  const std::vector<ElementRun> from = joined(runs);
  if (from.size() == 1 && rounding == Rounding::kOff && from.front().at.type == type) {
    return from.front().at;
  }
  int64_t count = 0;
  for (const ElementRun& run : from) {
    count += run.count;
  }
  const Elements to = space_->scratch(type, count);
  PieceList pieces;
  pieces.add({{to, count}}, {from});
  combine(pieces, Combination::kSum, rounding);
  return to;
}

Elements TaskLowering::packed(const Operand& operand, Rounding rounding, ElementType type) {
  return packed(runs(operand), rounding, type);
}

FactorRows TaskLowering::factor(const Operand& operand, Rounding rounding) {
  if (rounding == Rounding::kOff && at(operand, 0).type == factor_type_) {
    return {at(operand, 0), operand.columns, operand.rows()};
  }
  return {packed(operand, rounding, factor_type_), operand.columns, {}};
}

void TaskLowering::kernel(const KernelBody& body, int64_t blocks, int64_t slots) {
  if (blocks > 0) {
    steps_.push_back(kernel_step(body, blocks, slots));
  }
}

void TaskLowering::combine(const PieceList& pieces, Combination combination, Rounding rounding) {
  if (!pieces.empty()) {
    steps_.push_back(pieces.step(combination, rounding, *space_));
  }
}

void TaskLowering::fill(const Fill& fill) {
  if (fill.bytes > 0) {
    steps_.push_back(fill_step(fill));
  }
}

void TaskLowering::multiply(const std::vector<Product>& products) {
  Products group;
  for (const Product& product : products) {
    CHECK(product.left.columns == product.right.rows,
          "{} columns times {} rows",
          product.left.columns,
          product.right.rows);
    if (does_something(product)) {
      CHECK(product.depth() > 0, "a product of depth 0 that is not added");
      group.products.push_back(product);
    }
  }
  if (!group.products.empty()) {
    steps_.push_back(products_step(std::move(group)));
  }
}

}  // namespace moesim
