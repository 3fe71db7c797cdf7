#include "kernels/device/device_step.h"

#include <utility>

namespace moesim {
namespace {

struct KernelName {
  const char* operator()(const CombinePieces&) const { return "combine_pieces"; }
  const char* operator()(const ColumnSquares&) const { return "column_squares"; }
  const char* operator()(const CosineScores&) const { return "cosine_scores"; }
  const char* operator()(const GateProbabilities&) const { return "gate_probabilities"; }
  const char* operator()(const GateChoices&) const { return "gate_choices"; }
  const char* operator()(const FillExpertSlots&) const { return "fill_expert_slots"; }
  const char* operator()(const FillChosenSlots&) const { return "fill_chosen_slots"; }
  const char* operator()(const GateGradient&) const { return "gate_gradient"; }
  const char* operator()(const CosineInputGradient&) const { return "cosine_input_gradient"; }
  const char* operator()(const CosineWeightGradient&) const { return "cosine_weight_gradient"; }
  const char* operator()(const GatherRows&) const { return "gather_rows"; }
  const char* operator()(const MapSlots&) const { return "map_slots"; }
  const char* operator()(const SumSlots&) const { return "sum_slots"; }
  const char* operator()(const ScaleSlots&) const { return "scale_slots"; }
  const char* operator()(const Activate&) const { return "activate"; }
  const char* operator()(const DifferentiateHidden&) const { return "differentiate_hidden"; }
  const char* operator()(const SoftmaxRows&) const { return "softmax_rows"; }
  const char* operator()(const SoftmaxBackwardRows&) const { return "softmax_backward_rows"; }
  const char* operator()(const OptimizerStep&) const { return "optimizer_step"; }
};

struct ActionName {
  const char* operator()(const Fill&) const { return "fill"; }
  const char* operator()(const Copy&) const { return "copy"; }
  const char* operator()(const Products&) const { return "products"; }
  const char* operator()(const Kernel& kernel) const {
    return std::visit(KernelName{}, kernel.body);
  }
};

StepWork work_of(const Product& product) {
  const int64_t left = product.rows() * product.depth();
  const int64_t right = product.depth() * product.columns();
  const int64_t target = product.rows() * product.columns();
  const int64_t factor_size = size_of(product.left.at.type);
  const int64_t target_size = size_of(product.target.type);
  return {
      product.batch * ((left + right) * factor_size + (product.add ? 2 : 1) * target * target_size),
      2.0 * static_cast<double>(target) * static_cast<double>(product.depth()) * product.batch};
}

}  // namespace

const char* name_of(const DeviceAction& action) {
  return std::visit(ActionName{}, action);
}

int threads_of(const KernelBody& body) {
  return std::visit(
      [](const auto& arguments) -> int { return std::decay_t<decltype(arguments)>::kThreads; },
      body);
}

DeviceStep fill_step(const Fill& fill) {
  return {fill, {fill.bytes, 0}};
}

DeviceStep copy_step(const Copy& copy) {
  return {copy, {2 * copy.bytes, 0}};
}

DeviceStep products_step(Products products) {
  StepWork work;
  for (const Product& product : products.products) {
    const StepWork own = work_of(product);
    work.bytes += own.bytes;
    work.flops += own.flops;
  }
  return {std::move(products), work};
}

}  // namespace moesim
