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
  const char* operator()(const FusedAttention&) const { return "fused_attention"; }
  const char* operator()(const FusedAttentionBackward&) const { return "fused_attention_backward"; }
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

// `products` for each pair that is seen; rows of queries' heads and of keys' are of BF16.
StepWork attention_work(const AttentionExtent& extent, int products, int query_rows, int key_rows) {
  const int64_t elements = query_rows * extent.queries * extent.heads * extent.head_size +
                           key_rows * extent.keys * extent.kv_heads * extent.head_size;
  const int64_t statistics = extent.num_statistics() * size_of(ElementType::kFloat32);
  return {extent.samples * elements * size_of(ElementType::kBfloat16) + statistics,
          2.0 * products * static_cast<double>(extent.num_seen()) *
              static_cast<double>(extent.samples * extent.heads * extent.head_size)};
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

// Two products, scores and context; queries and keys and values are read, the context is written.
DeviceStep attention_step(const FusedAttention& attention) {
  return {attention, attention_work(attention.extent, 2, 2, 2)};
}

// Five products: scores, and the gradients of values, probabilities, queries and keys. Of queries
// there are their own rows, the context's, and both gradients; of keys and values two each.
DeviceStep attention_step(const FusedAttentionBackward& attention) {
  return {attention, attention_work(attention.forward.extent, 5, 4, 4)};
}

}  // namespace moesim
