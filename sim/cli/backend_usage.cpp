#include "sim/cli/backend_usage.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/ignored_options.h"
#include "sim/cli/stopping_rule.h"

namespace moesim {
namespace {

using Names = std::vector<std::string_view>;

Names of_gpus() {
  return {"--gpus",
          "--storage",
          "--attention",
          "--gemm-sms",
          "--ctas",
          "--nccl-alltoall",
          "--graph",
          "--kernels"};
}

Names of_backends() {
  Names names = {"--backend",
                 "--clock",
                 "--dilation",
                 "--modelled",
                 "--launcher",
                 "--runs",
                 "--max-runs",
                 "--spread"};
  const Names gpus = of_gpus();
  names.insert(names.end(), gpus.begin(), gpus.end());
  return names;
}

Names with(Names names, std::initializer_list<std::string_view> more) {
  names.insert(names.end(), more);
  return names;
}

void refuse(const BackendOptions& backend, const std::vector<IgnoredOptions>& table) {
  refuse_ignored(table, [&](const std::string& name) { return backend.given.contains(name); });
}

// `in_processes`: on those that mpirun started.
std::vector<IgnoredOptions> ignored(const BackendOptions& backend, bool in_processes) {
  const GpuRanks& gpu = backend.gpu;
  const bool is_cuda = backend.name == "cuda";
  const bool is_launched = !backend.launcher.empty();
  const bool has_processes = in_processes || is_launched;
  const bool is_anchored = backend.clock == HostClock::kAnchored;
  const StoppingRule rule = stopping_rule(backend);
  return {
      {of_gpus(), !is_cuda, "is an option of --backend cuda", "give that, or leave it out"},
      {{"--clock", "--dilation", "--modelled"},
       is_cuda,
       "has no effect with --backend cuda, which paces nothing"},
      {{"--transport"},
       is_launched,
       "says where ranks run, as --launcher does, which starts processes of its own",
       "leave one out"},
      {{"--gpus", "--graph", "--kernels"},
       has_processes,
       "is not for --transport mpi and --launcher, where each rank has a process and a GPU"},
      {{"--graph", "--kernels"},
       gpu.one_gpu_each,
       "is for ranks that share one GPU, not for --gpus each"},
      {{"--ctas", "--nccl-alltoall"},
       !has_processes && !gpu.one_gpu_each,
       "is of NCCL's collectives, which ranks that share one GPU do not have",
       "give --gpus each as well, or leave it out"},
      {{"--attention"},
       gpu.fuses_attention && gpu.cuda.storage == Storage::kFloat32,
       "fused is for tensors in BF16, which --storage fp32 has none of"},
      {{"--dilation", "--modelled"},
       backend.clock == HostClock::kRaw,
       "has no effect with --clock raw, which paces nothing"},
      {{"--modelled"},
       is_launched,
       "has no effect with --launcher: moesim-execute knows no profile and measures"},
      {{"--clock"},
       is_anchored && is_launched,  // processes of mpirun say so once, together (MpiExecutor)
       "anchored needs planned ends, which the real links of --launcher do not have",
       "use --clock free or raw"},
      {{"--spread"},
       rule.most == rule.least,
       "says how soon runs may end, and there are to be exactly so many",
       "give a larger --max-runs as well, or leave it out"},
  };
}

void check(const BackendOptions& backend, bool in_processes) {
  refuse(backend, ignored(backend, in_processes));
  if (!std::isfinite(backend.dilation)) {
    throw Error("--dilation takes a number; give 1 or more");
  }
  const StoppingRule rule = stopping_rule(backend);
  if (rule.most < rule.least) {
    throw Error(fmt::format(
        "--max-runs {} is less than the {} runs that there are to be; give more, or --runs",
        rule.most,
        rule.least));
  }
}

}  // namespace

void check_backend(const BackendOptions& backend) {
  check(backend, false);
}

void check_backend(const ExecuteOptions& options) {
  check(options.backend, options.in_processes);
}

void check_backend(const CalibrateOptions& options) {
  const BackendOptions& backend = options.backend;
  refuse(backend,
         {{with(of_backends(), {"--gpu-probes", "--probes"}),
           !options.nccl_logs.empty(),
           "has no effect on logs, which are read: nothing is run"},
          {with(of_backends(), {"--gpu-probes", "--out"}),
           !options.probes.empty(),
           "has no effect with --probes, which writes Programs and runs nothing"},
          {{"--gpu-probes"},
           backend.name != "cuda",
           "tells what a GPU's probes took",
           "give --backend cuda as well"},
          {{"--gpu-probes"},
           !backend.launcher.empty(),
           "runs probes of a GPU in this process, --launcher starts others",
           "leave one out, and run moesim-execute --gpu-probes FILE where the GPU is"}});
  if (options.nccl_logs.empty()) {
    check(backend, false);
  }
}

}  // namespace moesim
