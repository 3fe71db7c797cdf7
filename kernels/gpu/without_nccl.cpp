#include "kernels/cuda/probes/cuda_probe_device.h"
#include "kernels/gpu/with_nccl.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

Error not_built() {
  return Error(
      "this build has no NCCL; install it, configure again and build, or run all ranks on "
      "one GPU (--gpus one)");
}

}  // namespace

bool has_nccl() {
  return false;
}

std::string nccl_text() {
  return "no NCCL in this build";
}

std::unique_ptr<Executor> make_nccl_executor(const Program& /*program*/,
                                             const GpuRanks& /*ranks*/) {
  throw not_built();
}

MakeRankExecutor nccl_rank_maker(const GpuRanks& /*ranks*/, const PlaceHere& /*here*/) {
  throw not_built();
}

std::unique_ptr<CollectiveProbes> make_collective_probes(std::vector<int> /*devices*/) {
  return nullptr;
}

}  // namespace moesim
