#include "kernels/gpu/gpu.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

Error not_built() {
  return Error(
      "this build has no CUDA backend; install the CUDA toolkit (nvcc 12 or later, cuBLASLt), "
      "configure again with -DMOESIM_CUDA=on, and build");
}

}  // namespace

void require_gpu(const GpuRanks& /*ranks*/) {
  throw not_built();
}

std::string missing_for_fused_attention() {
  return not_built().what();
}

std::unique_ptr<Executor> make_gpu_executor(const Program& /*program*/, const GpuRanks& /*ranks*/) {
  throw not_built();
}

void require_gpu_memory(const std::vector<Program>& /*programs*/, const GpuRanks& /*ranks*/) {
  throw not_built();
}

std::vector<KernelTime> time_gpu_kernels(const Program& /*program*/,
                                         const GpuRanks& /*ranks*/,
                                         TensorStore& /*tensors*/) {
  throw not_built();
}

MakeRankExecutor gpu_rank_maker(const GpuRanks& /*ranks*/, const PlaceHere& /*here*/) {
  throw not_built();
}

std::vector<std::string> gpu_environment(int /*device*/) {
  throw not_built();
}

GpuProbes run_gpu_probes(const GpuProbeRun& /*run*/) {
  throw not_built();
}

}  // namespace moesim
