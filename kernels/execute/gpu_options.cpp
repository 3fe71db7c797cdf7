#include "kernels/execute/gpu_options.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "kernels/execute/option_choice.h"
#include "sim/base/ignored_options.h"

namespace moesim {
namespace {

constexpr int kMaxDevice = 1023;
constexpr double kMaxBudget = 3600;

void add_ranks(CLI::App& app, RunOptions& options) {
  add_choice<BackendKind>(app,
                          "--backend",
                          options.backend,
                          {{"cpu", BackendKind::kCpu}, {"cuda", BackendKind::kCuda}},
                          "Where it runs. Default: cpu, this machine's cores");
  add_choice<bool>(app,
                   "--gpus",
                   options.gpu.one_gpu_each,
                   {{"one", false}, {"each", true}},
                   "one: all ranks share a GPU; each: rank r has GPU r,\n"
                   "and NCCL. Default: one");
  app.add_option("--device", options.gpu.cuda.device, "Of --gpus one. Default: 0")
      ->option_text("N")
      ->check(CLI::Range(0, kMaxDevice));
  add_choice<Storage>(app,
                      "--storage",
                      options.gpu.cuda.storage,
                      {{"fp32", Storage::kFloat32}, {"bf16", Storage::kOwnType}},
                      "fp32: floating tensors are FP32, as on the CPU; bf16:\n"
                      "what they are in the Program. Default: fp32");
}

void add_tuning(CLI::App& app, RunOptions& options) {
  add_choice<bool>(app,
                   "--attention",
                   options.gpu.fuses_attention,
                   {{"products", false}, {"fused", true}},
                   "fused: by cuDNN where tensors are BF16 and it has a\n"
                   "kernel. Default: products and softmax rows");
  app.add_option(
         "--gemm-sms", options.gpu.cuda.gemm_sms, "SMs that cuBLASLt counts on. Default: all")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxSms));
  app.add_option_function<int>(
         "--ctas",
         [&options](int ctas) { options.gpu.least_ctas = options.gpu.most_ctas = ctas; },
         "Of each NCCL communicator. Default: NCCL's choice")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxCtas));
  app.add_flag("--nccl-alltoall",
               options.gpu.nccl_all_to_all,
               "AlltoAll of equal parts by ncclAlltoAll (NCCL 2.28).\n"
               "Default: by grouped sends");
  app.add_option("--compare-attention",
                 options.compare_attention,
                 "Instead of other runs: attention fused beside products,\n"
                 "in BF16, and how far they are apart, as JSON")
      ->option_text("FILE");
  app.add_flag("--graph", options.gpu.cuda.uses_graph, "Launches an iteration as one CUDA graph");
  app.add_flag("--kernels",
               options.kernels,
               "Also times each kernel by name, alone on the GPU, in an\n"
               "iteration of its own");
}

void add_probes(CLI::App& app, RunOptions& options) {
  app.add_flag("--gpu-facts", options.gpu_facts, "Prints GPU, driver, libraries, environment");
  app.add_option("--gpu-probes", options.gpu_probes, "Probes the GPU and writes all times as JSON")
      ->option_text("FILE");
  add_choice<ProbeSet>(app,
                       "--probe-set",
                       options.probe_run.set,
                       {{"all", ProbeSet::kAll}, {"queues", ProbeSet::kQueues}},
                       "queues: those that tell one hardware queue from many.\n"
                       "Default: all");
  app.add_option("--budget",
                 options.probe_run.budget_seconds,
                 "Seconds after which no probe begins. Default: 120")
      ->option_text("SECONDS")
      ->check(CLI::Range(0.0, kMaxBudget));
}

// `probes`: of the GPU, instead of a Program.
std::vector<IgnoredOptions> ignored(const RunOptions& options, bool probes) {
  const bool is_cuda = options.backend == BackendKind::kCuda;
  const bool has_processes = options.transport == TransportKind::kMpi;
  const bool rounds = options.host.rounding != Rounding::kOff;
  const bool is_raw = options.host.clock == HostClock::kRaw;
  const std::vector<std::string_view> of_runs = {"--gpus",
                                                 "--storage",
                                                 "--attention",
                                                 "--compare-attention",
                                                 "--gemm-sms",
                                                 "--ctas",
                                                 "--nccl-alltoall",
                                                 "--graph",
                                                 "--kernels"};
  std::vector<std::string_view> of_gpus = of_runs;
  of_gpus.insert(of_gpus.begin() + 1, "--device");
  return {
      {{"--storage",
        "--attention",
        "--graph",
        "--kernels",
        "--rounding",
        "--repeat",
        "--max-repeat",
        "--warmup",
        "--trace",
        "--traces",
        "--results",
        "--record"},
       !options.compare_attention.empty(),
       "says nothing to --compare-attention, which runs twice, in BF16"},
      {{"--probe-set", "--budget"}, options.gpu_probes.empty(), "is an option of --gpu-probes"},
      {of_runs, probes, "has no effect with --gpu-facts and --gpu-probes, which run no Program"},
      {of_gpus,
       !is_cuda && !probes,
       "is an option of --backend cuda",
       "give that, or leave it out"},
      {{"--cluster", "--clock", "--dilation", "--launch-overhead"},
       is_cuda,
       "is not for --backend cuda, which paces nothing"},
      {{"--cluster", "--dilation"}, is_raw, "has no effect with --clock raw, which paces nothing"},
      {{"--gpus", "--device", "--graph", "--kernels", "--compare-attention"},
       has_processes,
       "is not for --transport mpi, where each rank has a process and a GPU"},
      {{"--device", "--graph", "--kernels", "--compare-attention"},
       options.gpu.one_gpu_each,
       "is not for --gpus each"},
      {{"--ctas", "--nccl-alltoall"},
       !has_processes && !options.gpu.one_gpu_each,
       "is an option of --gpus each and of --transport mpi, where NCCL carries collectives"},
      {{"--attention"},
       options.gpu.fuses_attention && (options.gpu.cuda.storage == Storage::kFloat32 || rounds),
       "fused is for tensors in BF16 that nothing rounds",
       "give --storage bf16 and no --rounding exact, or leave it out"},
  };
}

}  // namespace

void add_gpu(CLI::App& app, RunOptions& options) {
  add_ranks(app, options);
  add_tuning(app, options);
  add_probes(app, options);
}

void check_gpu(const CLI::App& app, const RunOptions& options) {
  const bool probes = options.gpu_facts || !options.gpu_probes.empty();
  if (probes && !options.program.empty()) {
    throw Error("--gpu-facts and --gpu-probes run no PROGRAM; leave it out");
  }
  if (!std::isfinite(options.probe_run.budget_seconds)) {
    throw Error("--budget takes a number of seconds; see moesim-execute --help");
  }
  refuse_ignored(ignored(options, probes),
                 [&app](const std::string& name) { return app.count(name) > 0; });
}

}  // namespace moesim
