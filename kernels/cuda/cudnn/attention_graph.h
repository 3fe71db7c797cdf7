#pragma once

#include "kernels/cuda/cudnn/graph_builder.h"
#include "kernels/device/fused_attention.h"

namespace moesim {

// What an attention graph is bound to.
enum class AttentionTensor : int64_t {
  kQueries = 1,
  kKeys,
  kValues,
  kContext,
  kStatistics,
  kDContext,
  kDQueries,
  kDKeys,
  kDValues,
  kContextSums,  // FP32, as statistics: of context times its gradient
  kDQuerySums    // FP32 [sample][head][query][column]: sums before they are rounded
};

// Attention as the graph of operations that cuDNN's fused kernels are found by: products around a
// softmax with a mask of indices. cuDNN has a descriptor for all of it in one, but that has no mask
// before 9.21. Addresses do not count. Throws CudnnRefusal and CudaError.
CudnnGraph attention_graph(const CudnnFunctions& cudnn, const FusedAttention& attention);
CudnnGraph attention_graph(const CudnnFunctions& cudnn, const FusedAttentionBackward& attention);

}  // namespace moesim
