#include "kernels/cuda/cuda_executor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/cuda/hardware_queues.h"

namespace moesim {
namespace {

void refuse_host_waits(const Program& program) {
  const auto found = std::find_if(program.tasks.begin(), program.tasks.end(), [](const Task& task) {
    return std::holds_alternative<HostWait>(task.descriptor);
  });
  if (found != program.tasks.end()) {
    throw Error(fmt::format("host wait '{}' cannot be part of a graph; run the Program without one",
                            found->name));
  }
}

DeviceFacts prepare_device(const Program& program, const CudaOptions& options) {
  if (options.uses_graph) {
    refuse_host_waits(program);
  }
  set_hardware_queues(options.hardware_queues, options.device);
  use_device(options.device);
  return device_facts(options.device);
}

// Kernels keep the priorities of the streams that they were captured on: without the flag all of
// them take that of the stream that the graph is launched on.
ExecutableGraph instantiate(const Graph& graph) {
  cudaGraphExec_t executable = nullptr;
  check_cuda(
      cudaGraphInstantiate(&executable, graph.get(), cudaGraphInstantiateFlagUseNodePriority),
      "cudaGraphInstantiate");
  return ExecutableGraph(executable);
}

}  // namespace

CudaExecutor::CudaExecutor(const Program& program, const CudaOptions& options)
    : options_(options),
      facts_(prepare_device(program, options)),
      attention_(make_fused_attention(options.make_attention)),
      program_(DeviceScript(program), options, attention_.get()),
      launcher_(program_.steps(), options.gemm_sms, attention_.get()),
      streams_(program_.script(), program_.steps()),
      events_(program_.script()),
      carrier_(program_.script().script, program_.steps(), launcher_),
      iteration_({program_.script(), program_.steps(), launcher_, streams_, events_, carrier_}) {}

// Task by task first: CUDA loads a kernel when it is first launched, which a capture does not
// allow.
void CudaExecutor::make_graph(const TensorStore& tensors) {
  program_.upload(tensors, streams_.main());
  iteration_.issue();
  check_cuda(cudaStreamSynchronize(streams_.main()), "cudaStreamSynchronize");
  graph_ = instantiate(iteration_.capture());
}

Execution CudaExecutor::run(TensorStore& tensors) {
  if (options_.uses_graph && graph_ == nullptr) {
    make_graph(tensors);
  }
  program_.upload(tensors, streams_.main());
  if (graph_ != nullptr) {
    check_cuda(cudaGraphLaunch(graph_.get(), streams_.main()), "cudaGraphLaunch");
  } else {
    iteration_.issue();
  }
  check_cuda(cudaStreamSynchronize(streams_.main()), "cudaStreamSynchronize");
  Execution execution;
  execution.trace = iteration_.trace();
  execution.trace.executor = "cuda";
  execution.trace.resolution = "ranks";
  execution.trace.assumptions = assumptions();
  program_.download(tensors, streams_.main());
  return execution;
}

void CudaExecutor::run_alone(const Issue& issue, StepTimer& timer) const {
  const DeviceProgram& program = program_.steps();
  // Its stream's workspace; host waits have no stream, and no steps.
  const auto place = [&](const ScriptPlace& of) {
    const int lane = program_.script().script.ranks[of.rank].tasks[of.position].lane;
    return LaunchPlace{streams_.main(), streams_.place(of.rank, lane).workspace};
  };
  if (issue.meeting == kNone) {
    const ScriptPlace& only = issue.places.front();
    const std::vector<DeviceStep>& steps = program.tasks[only.rank][only.position];
    if (!steps.empty()) {
      timer.run(launcher_, steps, place(only));
    }
    return;
  }
  for (const auto& phase : program.meetings[static_cast<size_t>(issue.meeting)].phases) {
    for (size_t member = 0; member < phase.size(); ++member) {
      timer.run(launcher_, phase[member], place(issue.places[member]));
    }
  }
}

// Twice: a kernel is loaded when it is first launched.
std::vector<KernelTime> CudaExecutor::time_kernels(TensorStore& tensors) {
  std::vector<KernelTime> times;
  for (int twice = 0; twice < 2; ++twice) {
    program_.upload(tensors, streams_.main());
    StepTimer timer;
    for (const Issue& issue : program_.script().order) {
      run_alone(issue, timer);
    }
    times = timer.times();
  }
  program_.download(tensors, streams_.main());
  return times;
}

std::vector<std::string> CudaExecutor::assumptions() const {
  std::vector<std::string> lines = {
      fmt::format("measured on {}", describe(facts_)),
      fmt::format("{} logical ranks share this GPU; collectives are copies within its memory",
                  program_.script().program->num_ranks),
      fmt::format("{} hardware queues for the streams of all ranks together",
                  options_.hardware_queues),
  };
  if (attention_ != nullptr) {
    lines.emplace_back(kFusedAttentionAssumption);
  }
  if (graph_ != nullptr) {
    lines.emplace_back("launched as one graph: tasks have no launch times");
  }
  return lines;
}

}  // namespace moesim
