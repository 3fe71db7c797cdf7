#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_options.h"
#include "kernels/cuda/nccl/device_sharing.h"
#include "kernels/executor.h"
#include "kernels/host/rank_executor.h"
#include "kernels/kernel_times.h"
#include "kernels/probe/gpu_probe_plan.h"
#include "kernels/probe/measure_probes.h"
#include "sim/io/gpu_check.h"
#include "sim/io/program.h"

namespace moesim {

// What programs see of the CUDA backend, whether it was built (with_cuda.cpp) or not
// (without_cuda.cpp).

// What an option may ask for: no GPU has more SMs, NCCL no more CTAs.
inline constexpr int kMaxSms = 1024;
inline constexpr int kMaxCtas = 64;

// How the ranks of a Program are dealt out.
struct GpuRanks {
  CudaOptions cuda;
  bool fuses_attention = false;  // where tensors are BF16 and cuDNN has a kernel
  bool one_gpu_each = false;     // rank r on device r, with NCCL; else all on `cuda.device`
  int least_ctas = 0;            // of NCCL's communicators; 0: NCCL's choice
  int most_ctas = 0;
  bool nccl_all_to_all = false;  // by ncclAlltoAll where parts are equal; else by sends
};

// Empty where attention can be fused; else what this build or this machine lacks, in a sentence.
std::string missing_for_fused_attention();

// Throws Error where it was not built, which says how to get it, and Failure, in one sentence,
// where there is no device. Makes no context. What CUDA reads from the environment is set before:
// nothing that uses CUDA comes earlier.
void require_gpu(const GpuRanks& ranks);

// Keeps a reference to the Program, which the verifier has accepted. Throws what require_gpu does,
// Failure where the device's memory is too small, and Error for what cannot be run.
std::unique_ptr<Executor> make_gpu_executor(const Program& program, const GpuRanks& ranks);

// Throws what require_gpu does, and Failure, which names the Program, where one of them asks for
// more memory than is free on its device. Runs nothing.
void require_gpu_memory(const std::vector<Program>& programs, const GpuRanks& ranks);

// What the steps of an iteration take by name, each alone on the device (CudaExecutor). Of ranks on
// one GPU. Throws what make_gpu_executor does.
std::vector<KernelTime> time_gpu_kernels(const Program& program,
                                         const GpuRanks& ranks,
                                         TensorStore& tensors);

// For ranks that have a process each (Processes::run_ranks): chooses this one's GPU among its
// machine's and sets what CUDA and NCCL read from its environment, so that it is called before
// there are other threads. Of `ranks`, device and one_gpu_each say nothing. Throws what require_gpu
// does, and Error without NCCL.
MakeRankExecutor gpu_rank_maker(const GpuRanks& ranks, const PlaceHere& here);

// The GPU, driver, libraries and clocks, and the environment variables that they read: one line
// each. Throws what require_gpu does.
std::vector<std::string> gpu_environment(int device);

enum class ProbeSet {
  kAll,
  kQueues  // one hardware queue from many
};

struct GpuProbeRun {
  ProbeSet set = ProbeSet::kAll;
  int device = 0;
  int hardware_queues = kDefaultHardwareQueues;
  double budget_seconds = 120;
  // Gets what is known so far whenever a group of probes is over (ProbeRules::keep).
  std::function<void(const GpuProbes&)> keep{};
};

// Writes what is known so far into a file, whole each time, so that it is there when the process is
// ended. Nothing for a pipe or a device, which would get one behind the other.
std::function<void(const GpuProbes&)> keeping_in(const std::string& path);

// Probes the devices of this process; collectives over powers of two of them. Throws what
// require_gpu does, and Failure where the GPU fails at the reference.
GpuProbes run_gpu_probes(const GpuProbeRun& run);

}  // namespace moesim
