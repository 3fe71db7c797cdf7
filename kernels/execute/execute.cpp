#include "kernels/execute/execute.h"

#include <memory>
#include <utility>

#include <fmt/core.h>

#include "kernels/execute/fused_check.h"
#include "kernels/execute/steps.h"
#include "kernels/gpu/gpu.h"
#include "kernels/host/host_executor.h"
#include "kernels/inputs.h"
#include "kernels/mpi/processes.h"
#include "kernels/results.h"
#include "sim/base/message.h"
#include "sim/io/files.h"
#include "sim/io/gpu_check.h"

namespace moesim {
namespace {

// What a process that reports does in the end.
int finish(const RunOptions& options, const Program& program, const ExecutedRuns& executed) {
  report(options, program, executed);
  return are_enough(options, executed.runs) ? kExitOk : kExitFailed;
}

// The same as one of several: the first reports.
int finish(const RunOptions& options,
           const Processes& processes,
           const Program& program,
           const ExecutedRuns& executed) {
  if (processes.process == 0) {
    return finish(options, program, executed);
  }
  return are_enough(options, executed.runs) ? kExitOk : kExitFailed;
}

int execute_on_threads(const RunOptions& options) {
  const Program program = load_verified(options);
  check_memory(program, program.num_ranks, options.program);
  HostExecutor executor(program, host_options(options));
  TensorStore tensors(program);
  RepeatedRuns runs = repeat(executor, options.repeat, tensors);
  const ExecutedRuns executed{std::move(runs), results_to_text(tensors)};
  return finish(options, program, executed);
}

int execute_in_processes(const RunOptions& options, const Processes& processes) {
  const Program program = load_verified(options);
  check_memory(program, processes.num_ranks_here(program), options.program);
  const ExecutedRuns executed = processes.run(program, host_options(options), options.repeat);
  return finish(options, processes, program, executed);
}

// What a GPU is told of the host's options: rounding, queues.
GpuRanks gpu_ranks(const RunOptions& options) {
  GpuRanks gpu = options.gpu;
  gpu.cuda.rounding = options.host.rounding;
  gpu.cuda.hardware_queues = options.host.hardware_queues;
  gpu.cuda.keeps_all = !options.results.empty();
  return gpu;
}

int execute_on_gpus(const RunOptions& options) {
  require_gpu(gpu_ranks(options));
  const Program program = load_verified(options);
  check_memory(program, program.num_ranks, options.program);
  std::unique_ptr<Executor> executor = make_gpu_executor(program, gpu_ranks(options));
  TensorStore tensors(program);
  ExecutedRuns executed{repeat(*executor, options.repeat, tensors), results_to_text(tensors)};
  if (options.kernels) {
    executor.reset();  // the device has room for one
    tensors.clear();
    fill_inputs(options.repeat.data, tensors);
    executed.kernels = time_gpu_kernels(program, gpu_ranks(options), tensors);
  }
  return finish(options, program, executed);
}

// One process for each GPU.
int execute_on_gpus(const RunOptions& options, const Processes& processes) {
  const MakeRankExecutor make =
      gpu_rank_maker(gpu_ranks(options), {processes.place_here, processes.tell_here});
  const Program program = load_verified(options);
  check_memory(program, processes.num_ranks_here(program), options.program);
  return finish(options, processes, program, processes.run_ranks(program, make, options.repeat));
}

int compare_attention(const RunOptions& options) {
  constexpr int kSkipped = 77;
  require_gpu(gpu_ranks(options));
  const std::string missing = missing_for_fused_attention();
  if (!missing.empty()) {
    fmt::print(stderr, "{}\n", visible_in_line(missing));
    return kSkipped;
  }
  const Program program = load_verified(options);
  check_memory(program, 2 * program.num_ranks, options.program);
  const AttentionCase result = check_fused_attention(options, program);
  write_file_atomically(options.compare_attention, attention_case_to_json(result));
  fmt::print("{}: {} fused steps\n", visible_in_line(options.compare_attention), result.num_fused);
  return result.failure.empty() ? kExitOk : kExitFailed;
}

int tell_gpu_facts(const RunOptions& options) {
  for (const std::string& line : gpu_environment(options.gpu.cuda.device)) {
    fmt::print("{}\n", visible_in_line(line));
  }
  return kExitOk;
}

int probe(const RunOptions& options) {
  GpuProbeRun run = options.probe_run;
  run.device = options.gpu.cuda.device;
  run.hardware_queues = options.host.hardware_queues;
  run.keep = keeping_in(options.gpu_probes);
  const GpuProbes probes = run_gpu_probes(run);
  write_file_atomically(options.gpu_probes, probes_to_json(probes));
  fmt::print("{}: {} probes\n", visible_in_line(options.gpu_probes), probes.readings.size());
  return kExitOk;
}

}  // namespace

int execute(const RunOptions& options) {
  if (options.gpu_facts) {
    return tell_gpu_facts(options);
  }
  if (!options.gpu_probes.empty()) {
    return probe(options);
  }
  if (!options.compare_attention.empty()) {
    return compare_attention(options);
  }
  const bool is_cuda = options.backend == BackendKind::kCuda;
  if (options.transport == TransportKind::kThreads) {
    return is_cuda ? execute_on_gpus(options) : execute_on_threads(options);
  }
  return in_processes("moesim-execute", [&](const Processes& processes) {
    return is_cuda ? execute_on_gpus(options, processes) : execute_in_processes(options, processes);
  });
}

}  // namespace moesim
