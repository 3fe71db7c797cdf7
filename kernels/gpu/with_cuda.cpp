#include <chrono>
#include <cstdlib>
#include <exception>

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <unistd.h>

#include "kernels/cuda/cuda_call.h"
#include "kernels/cuda/cuda_executor.h"
#include "kernels/cuda/hardware_queues.h"
#include "kernels/cuda/probes/cuda_probe_device.h"
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/with_cudnn.h"
#include "kernels/gpu/with_nccl.h"

namespace moesim {
namespace {

std::vector<int> all_devices() {
  std::vector<int> devices;
  for (int device = 0; device < count_devices(); ++device) {
    devices.push_back(device);
  }
  return devices;
}

// What changes how fast the libraries are.
void add_variables(std::vector<std::string>& lines) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (is_gpu_variable(*entry)) {
      lines.emplace_back(*entry);
    }
  }
}

ProbeMachine machine_of(const GpuProbeRun& run, const DeviceFacts& facts) {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {.num_gpus = count_devices(),
          .num_sms = facts.num_sms,
          .memory_bytes = static_cast<int64_t>(free),
          .queues = run.hardware_queues,
          .has_nccl = has_nccl()};
}

int first_device(const GpuRanks& ranks) {
  return ranks.one_gpu_each ? 0 : ranks.cuda.device;
}

void set_queues(const GpuRanks& ranks) {
  set_hardware_queues(ranks.cuda.hardware_queues, first_device(ranks));
}

// Without making the device's context: hardware queues must be set before that.
void require_device(int device) {
  if (device >= count_devices()) {
    use_device(device);  // says what is missing
  }
}

// With somebody who fuses attention, where that is asked for.
GpuRanks with_attention(GpuRanks ranks) {
  if (ranks.fuses_attention) {
    ranks.cuda.make_attention = fused_attention_maker();
  }
  return ranks;
}

}  // namespace

void require_gpu(const GpuRanks& ranks) {
  set_queues(ranks);
  require_device(first_device(ranks));
}

std::string missing_for_fused_attention() {
  try {
    static_cast<void>(fused_attention_maker());
    return {};
  } catch (const std::exception& missing) {
    return missing.what();
  }
}

std::unique_ptr<Executor> make_gpu_executor(const Program& program, const GpuRanks& ranks) {
  const GpuRanks dealt = with_attention(ranks);
  return dealt.one_gpu_each ? make_nccl_executor(program, dealt)
                            : std::make_unique<CudaExecutor>(program, dealt.cuda);
}

// Rank r of `each` needs its own memory on device r.
void require_gpu_memory(const std::vector<Program>& programs, const GpuRanks& ranks) {
  set_queues(ranks);
  const CudaOptions options = with_attention(ranks).cuda;
  for (const Program& program : programs) {
    if (!ranks.one_gpu_each) {
      use_device(ranks.cuda.device);
      require_device_memory(DeviceScript(program), options);
    }
    for (int rank = 0; ranks.one_gpu_each && rank < program.num_ranks; ++rank) {
      use_device(rank);
      require_device_memory(DeviceScript(program, rank, false), options);
    }
  }
}

std::vector<KernelTime> time_gpu_kernels(const Program& program,
                                         const GpuRanks& ranks,
                                         TensorStore& tensors) {
  CudaOptions options = with_attention(ranks).cuda;
  options.uses_graph = false;
  return CudaExecutor(program, options).time_kernels(tensors);
}

MakeRankExecutor gpu_rank_maker(const GpuRanks& ranks, const PlaceHere& here) {
  require_gpu(ranks);
  return nccl_rank_maker(with_attention(ranks), here);
}

std::vector<std::string> gpu_environment(int device) {
  require_device(device);
  const DeviceFacts facts = device_facts(device);
  std::vector<std::string> lines = {
      fmt::format("{}, {} of them", describe(facts), count_devices()),
      fmt::format("PCI {}, highest clocks {} MHz (SMs) and {} MHz (memory)",
                  facts.pci_bus_id,
                  facts.sm_clock_khz / 1000,
                  facts.memory_clock_khz / 1000),
      fmt::format("cuBLASLt {}, {}", cublasLtGetVersion(), nccl_text())};
  add_variables(lines);
  return lines;
}

GpuProbes run_gpu_probes(const GpuProbeRun& run) {
  set_hardware_queues(run.hardware_queues, run.device);
  use_device(run.device);
  const DeviceFacts facts = device_facts(run.device);
  const ProbeMachine machine = machine_of(run, facts);
  const std::unique_ptr<CollectiveProbes> collectives = make_collective_probes(all_devices());
  CudaProbeDevice device(facts, collectives.get());
  ProbeRules rules;
  rules.budget_seconds = run.budget_seconds;
  const auto begin = std::chrono::steady_clock::now();
  rules.elapsed = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::vector<std::string> environment = gpu_environment(run.device);
  const auto complete = [&](GpuProbes probes) {
    probes.environment = environment;
    probes.num_sms = facts.num_sms;
    return probes;
  };
  if (run.keep) {
    rules.keep = [&](const GpuProbes& so_far) { run.keep(complete(so_far)); };
  }
  return complete(measure_probes(
      run.set == ProbeSet::kAll ? plan_gpu_probes(machine) : plan_queue_probes(machine),
      rules,
      device));
}

}  // namespace moesim
