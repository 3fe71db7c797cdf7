#include "kernels/cuda/cudnn/cudnn_attention.h"

#include "kernels/device/lowering_space.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

using Binding = AttentionPlan::Binding;

std::vector<Binding> bindings_of(const FusedAttention& attention) {
  return {{AttentionTensor::kQueries, attention.queries.first.address},
          {AttentionTensor::kKeys, attention.keys.first.address},
          {AttentionTensor::kValues, attention.values.first.address},
          {AttentionTensor::kContext, attention.context.first.address},
          {AttentionTensor::kStatistics, attention.statistics}};
}

// What the backward pass sums up in, before the workspace of the kernel.
struct SumMemory {
  explicit SumMemory(const AttentionExtent& extent) {
    const int64_t size = size_of(ElementType::kFloat32);
    context_sums = device_aligned(extent.num_statistics() * size);
    query_sums = device_aligned(extent.num_statistics() * extent.head_size * size);
  }

  int64_t context_sums = 0;
  int64_t query_sums = 0;
};

}  // namespace

CudnnAttention::CudnnAttention(const CudnnFunctions& cudnn)
    : cudnn_(cudnn), handle_(make_handle(cudnn_)), device_(cudnn_device(cudnn_, handle_.get())) {}

CudnnAttention::Handle CudnnAttention::make_handle(const CudnnFunctions& cudnn) {
  cudnnHandle_t handle = nullptr;
  check_cudnn(cudnn, cudnn.create(&handle), "cudnnCreate");
  return Handle(handle, HandleDeleter{cudnn.destroy});
}

template <typename Attention>
const AttentionPlan* CudnnAttention::plan(const Attention& attention) {
  const auto [found, is_new] = plans_.try_emplace(AttentionLayout(attention));
  std::optional<AttentionPlan>& plan = found->second;
  if (is_new) {
    try {
      plan.emplace(cudnn_, attention_graph(cudnn_, attention), device_);
    } catch (const CudnnRefusal&) {
      // It is computed by products.
    }
  }
  return plan ? &*plan : nullptr;
}

template <typename Attention>
const AttentionPlan& CudnnAttention::known_plan(const Attention& attention, cudaStream_t stream) {
  const AttentionPlan* known = plan(attention);
  CHECK(known != nullptr, "attention that cuDNN refused");
  check_cudnn(cudnn_, cudnn_.set_stream(handle_.get(), stream), "cudnnSetStream");
  return *known;
}

std::optional<int64_t> CudnnAttention::workspace_bytes(const FusedAttention& attention) {
  const AttentionPlan* known = plan(attention);
  return known == nullptr ? std::nullopt : std::optional(known->workspace_bytes());
}

std::optional<int64_t> CudnnAttention::workspace_bytes(const FusedAttentionBackward& attention) {
  const AttentionPlan* known = plan(attention);
  if (known == nullptr) {
    return std::nullopt;
  }
  const SumMemory sums(attention.forward.extent);
  return sums.context_sums + sums.query_sums + known->workspace_bytes();
}

void CudnnAttention::launch(const FusedAttention& attention, cudaStream_t stream) {
  known_plan(attention, stream).launch(handle_.get(), bindings_of(attention), attention.workspace);
}

void CudnnAttention::launch(const FusedAttentionBackward& attention, cudaStream_t stream) {
  const SumMemory sums(attention.forward.extent);
  const DeviceAddress context_sums = attention.forward.workspace;
  const DeviceAddress query_sums = context_sums + static_cast<DeviceAddress>(sums.context_sums);
  std::vector<Binding> bindings = bindings_of(attention.forward);
  bindings.insert(bindings.end(),
                  {{AttentionTensor::kDContext, attention.d_context.first.address},
                   {AttentionTensor::kDQueries, attention.d_queries.first.address},
                   {AttentionTensor::kDKeys, attention.d_keys.first.address},
                   {AttentionTensor::kDValues, attention.d_values.first.address},
                   {AttentionTensor::kContextSums, context_sums},
                   {AttentionTensor::kDQuerySums, query_sums}});
  known_plan(attention, stream)
      .launch(handle_.get(), bindings, query_sums + static_cast<DeviceAddress>(sums.query_sums));
}

}  // namespace moesim
