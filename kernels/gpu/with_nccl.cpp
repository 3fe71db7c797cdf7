#include "kernels/gpu/with_nccl.h"

#include <utility>

#include <fmt/format.h>
#include <nccl.h>

#include "kernels/cuda/device_facts.h"
#include "kernels/cuda/nccl/nccl_call.h"
#include "kernels/cuda/nccl/nccl_executor.h"
#include "kernels/cuda/nccl/nccl_threads.h"
#include "kernels/cuda/probes/nccl_probes.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

NcclOptions nccl_options(const GpuRanks& ranks) {
  NcclOptions options;
  options.cuda = ranks.cuda;
  options.native_all_to_all = ranks.nccl_all_to_all;
  options.communicators.ctas = {ranks.least_ctas, ranks.most_ctas};
  return options;
}

}  // namespace

bool has_nccl() {
  return true;
}

std::string nccl_text() {
  return nccl_version_text();
}

std::unique_ptr<Executor> make_nccl_executor(const Program& program, const GpuRanks& ranks) {
  require_gpu(ranks);
  if (program.num_ranks > count_devices()) {
    throw Failure(
        fmt::format("{} ranks on GPUs of their own, and this process sees {}; run fewer ranks, or "
                    "all of them as logical ranks of one GPU (--gpus one)",
                    program.num_ranks,
                    count_devices()));
  }
  return std::make_unique<NcclThreads>(program, nccl_options(ranks));
}

MakeRankExecutor nccl_rank_maker(const GpuRanks& ranks, const PlaceHere& here) {
  const DeviceChoice choice = choose_device(
      here, count_devices(), [](int device) { return device_facts(device).pci_bus_id; });
  set_environment(choice);
  NcclOptions options = nccl_options(ranks);
  options.cuda.device = choice.device;
  options.device_is_shared = choice.is_shared;
  return [options](const Program& program, RankPeers& peers) {
    return make_nccl_rank(program, peers, options);
  };
}

std::unique_ptr<CollectiveProbes> make_collective_probes(std::vector<int> devices) {
  return std::make_unique<NcclProbes>(std::move(devices));
}

}  // namespace moesim
