#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/cuda/cudnn/attention_plan.h"
#include "kernels/cuda/fused_attention_engine.h"

namespace moesim {

// Fused attention by cuDNN, on the device that is current when it is made. One thread at a time.
class CudnnAttention : public FusedAttentionEngine {
 public:
  // Throws CudaError.
  explicit CudnnAttention(const CudnnFunctions& cudnn);

  std::optional<int64_t> workspace_bytes(const FusedAttention& attention) override;
  std::optional<int64_t> workspace_bytes(const FusedAttentionBackward& attention) override;
  void launch(const FusedAttention& attention, cudaStream_t stream) override;
  void launch(const FusedAttentionBackward& attention, cudaStream_t stream) override;

 private:
  struct HandleDeleter {
    decltype(&cudnnDestroy) destroy = nullptr;
    void operator()(cudnnHandle_t handle) const { static_cast<void>(destroy(handle)); }
  };
  using Handle = std::unique_ptr<cudnnContext, HandleDeleter>;

  static Handle make_handle(const CudnnFunctions& cudnn);
  // Null where cuDNN has no kernel.
  template <typename Attention>
  const AttentionPlan* plan(const Attention& attention);
  template <typename Attention>
  const AttentionPlan& known_plan(const Attention& attention, cudaStream_t stream);

  CudnnFunctions cudnn_;
  Handle handle_;
  CudnnDescriptor device_;
  std::map<AttentionLayout, std::optional<AttentionPlan>> plans_;
};

}  // namespace moesim
