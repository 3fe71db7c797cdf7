#include "kernels/execute/fused_check.h"

#include <memory>
#include <string>
#include <vector>

#include "kernels/attention_comparison.h"
#include "kernels/gpu/gpu.h"
#include "kernels/inputs.h"

namespace moesim {
namespace {

// Before every run: a run may leave what it computed in place of an input.
void fill(const RunOptions& options, TensorStore& tensors) {
  tensors.clear();
  fill_inputs(options.repeat.data, tensors);
}

void run(const RunOptions& options, const GpuRanks& ranks, TensorStore& tensors) {
  fill(options, tensors);
  make_gpu_executor(tensors.program(), ranks)->run(tensors);
}

int count_fused(const std::vector<KernelTime>& kernels) {
  int64_t number = 0;
  for (const KernelTime& kernel : kernels) {
    number += kernel.name.starts_with("fused_attention") ? kernel.count : 0;
  }
  return static_cast<int>(number);
}

}  // namespace

AttentionCase check_fused_attention(const RunOptions& options, const Program& program) {
  GpuRanks ranks = options.gpu;
  ranks.cuda.storage = Storage::kOwnType;
  ranks.cuda.rounding = Rounding::kOff;
  ranks.cuda.hardware_queues = options.host.hardware_queues;
  ranks.cuda.keeps_all = true;
  ranks.fuses_attention = false;
  TensorStore products(program);
  run(options, ranks, products);
  ranks.fuses_attention = true;
  TensorStore fused(program);
  fill(options, fused);
  const int num_fused = count_fused(time_gpu_kernels(program, ranks, fused));
  run(options, ranks, fused);
  return compare_attention(fused, products, num_fused);
}

}  // namespace moesim
