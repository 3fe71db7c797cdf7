#include "sim/cli/backend.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "kernels/host/host_executor.h"
#include "kernels/host/machine_memory.h"
#include "kernels/inputs.h"
#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/base/version.h"
#include "sim/cli/launcher.h"
#include "sim/cli/machine.h"
#include "sim/cli/option_values.h"
#include "sim/cli/progress.h"
#include "sim/cli/stopping_rule.h"
#include "sim/engine/task_cost.h"
#include "sim/program/variation.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

// What takes longer, all runs together, is refused: a night.
constexpr double kMaxSeconds = 12 * 3600;

RepeatOptions repeat_options(const StoppingRule& rule,
                             const std::function<void()>& on_accepted = {}) {
  constexpr int kMaxRejected = 5;  // disturbed runs for each of the least number before it gives up
  return {.num_warmups = kNumWarmups,
          .rule = rule,
          .max_rejected = kMaxRejected * rule.least,
          .on_accepted = on_accepted};
}

}  // namespace

Backend::Backend(const BackendOptions& options,
                 const Cluster* cluster,
                 const Profile* profile,
                 const Processes* processes)
    : options_(options),
      rule_(stopping_rule(options)),
      speed_(measured_speed()),
      processes_(processes) {
  if (cluster != nullptr) {
    cluster_ = *cluster;
  }
  if (profile != nullptr) {
    profile_ = *profile;
  }
  if (options.modelled && !(cluster_ && profile_)) {
    throw Error(
        "--modelled takes the operations' times from a profile; give one and a cluster, in the "
        "scenario or by --profile and --cluster");
  }
}

Backend::Backend(const BackendOptions& options, const Inputs& inputs)
    : Backend(options,
              &inputs.cluster,
              inputs.scenario.profile_path.empty() ? nullptr : &inputs.profile) {}

ExecutedRuns Backend::run(const Program& program, const std::function<void()>& on_accepted) const {
  require_machine({program});
  ExecutedRuns executed = repeated(program, on_accepted);
  const RepeatedRuns& runs = executed.runs;
  if (static_cast<int>(runs.accepted.size()) < rule_.least) {
    throw Failure(
        fmt::format("{}: only {} of {} runs were not disturbed by the machine; try an idler one, "
                    "or longer tasks (--dilation, slower ports)",
                    program.name,
                    runs.accepted.size(),
                    runs.accepted.size() + static_cast<size_t>(runs.num_rejected)));
  }
  return executed;
}

RunSize Backend::size_of(const Program& program) const {
  return run_size(program,
                  speed_,
                  {.is_raw = options_.clock == HostClock::kRaw,
                   .dilation = options_.dilation,
                   .cluster = cluster_ && has_paced_links() ? &*cluster_ : nullptr,
                   .operation_profile = options_.modelled ? &*profile_ : nullptr,
                   .num_ranks = processes_ == nullptr ? program.num_ranks
                                                      : processes_->num_ranks_here(program)});
}

void Backend::require_paced(const Program& program) const {
  if (options_.clock == HostClock::kRaw && varies(program)) {
    throw Error(program.name,
                "its ranks differ in speed or have jitter, which is paced, and --clock raw paces "
                "nothing; use --clock free, or leave the variation out");
  }
}

void Backend::require_runnable(const std::vector<Program>& programs) const {
  require_machine(programs);
  if (is_cuda() && options_.launcher.empty() && processes_ == nullptr) {
    require_gpu_memory(programs, gpu_ranks());
  }
}

void Backend::require_machine(const std::vector<Program>& programs) const {
  if (is_cuda() && options_.launcher.empty()) {
    require_gpu(gpu_ranks());
  }
  const int64_t memory = available_memory();
  const double num_runs = rule_.least + kNumWarmups;
  std::string largest;
  RunSize size;
  double seconds = 0;
  for (const Program& program : programs) {
    require_paced(program);
    const RunSize one = size_of(program);
    seconds += is_cuda() ? 0 : num_runs * one.seconds;  // of this machine's cores
    if (largest.empty() || one.memory_bytes > size.memory_bytes) {
      largest = program.name;
      size = one;
    }
  }
  if (size.memory_bytes > memory || seconds > kMaxSeconds) {
    throw Error(
        largest,
        fmt::format("one run would take {} of memory (this machine has {} left) and about {}, the "
                    "{} runs of {} about {}; execute a smaller scenario: fewer layers, tokens or "
                    "ranks; or fewer --runs, or a smaller --dilation",
                    format_bytes(size.memory_bytes),
                    format_bytes(memory),
                    duration_text(size.seconds),
                    num_runs * static_cast<double>(programs.size()),
                    counted(programs.size(), "Program"),
                    duration_text(seconds)));
  }
}

ExecutedRuns Backend::repeated(const Program& program,
                               const std::function<void()>& on_accepted) const {
  const RepeatOptions repeat = repeat_options(rule_, on_accepted);
  if (processes_ != nullptr && is_cuda()) {
    return processes_->run_ranks(
        program,
        gpu_rank_maker(gpu_ranks(), {processes_->place_here, processes_->tell_here}),
        repeat);
  }
  if (processes_ != nullptr) {
    return processes_->run(program, host_options(program), repeat);
  }
  if (!options_.launcher.empty()) {
    return launch(program,
                  {.command = options_.launcher,
                   .clock = options_.clock,
                   .dilation = options_.dilation,
                   .hardware_queues = hardware_queues(profile_ ? &*profile_ : nullptr),
                   .gpu = is_cuda() ? std::optional(options_.gpu) : std::nullopt,
                   .repeat = repeat_options(rule_)});
  }
  return is_cuda() ? run_on_gpus(program, repeat) : run_on_threads(program, repeat);
}

GpuRanks Backend::gpu_ranks() const {
  GpuRanks gpu = options_.gpu;
  gpu.cuda.hardware_queues = hardware_queues(profile_ ? &*profile_ : nullptr);
  return gpu;
}

HostOptions Backend::host_options(const Program& program) const {
  HostOptions host;
  host.clock = options_.clock;
  host.dilation = options_.dilation;
  host.hardware_queues = hardware_queues(profile_ ? &*profile_ : nullptr);
  if (options_.modelled) {
    const auto costs = std::make_shared<TaskCosts>(program, &*cluster_, &*profile_);
    host.operation_time = [costs](const Task& task, int rank) {
      return costs->duration(task, rank);
    };
  }
  return host;
}

ExecutedRuns Backend::run_on_gpus(const Program& program, const RepeatOptions& options) const {
  const std::unique_ptr<Executor> executor = make_gpu_executor(program, gpu_ranks());
  TensorStore tensors(program);
  RepeatedRuns runs = repeat(*executor, options, tensors);
  return {std::move(runs), results_to_text(tensors)};
}

std::vector<KernelTime> Backend::kernel_times(const Program& program) const {
  TensorStore tensors(program);
  fill_inputs(repeat_options(rule_).data, tensors);
  return time_gpu_kernels(program, gpu_ranks(), tensors);
}

ExecutedRuns Backend::run_on_threads(const Program& program, const RepeatOptions& options) const {
  HostOptions host = host_options(program);
  host.cluster = cluster_;
  HostExecutor executor(program, host);
  TensorStore tensors(program);
  RepeatedRuns runs = repeat(executor, options, tensors);
  return {std::move(runs), results_to_text(tensors)};
}

// Where the ranks of --backend cuda are.
std::string Backend::ranks_text() const {
  if (!options_.launcher.empty()) {
    return "processes of: " + options_.launcher;
  }
  if (processes_ != nullptr) {
    return "a process for each rank";
  }
  return options_.gpu.one_gpu_each ? "a GPU for each rank" : "all ranks on one GPU";
}

std::string Backend::settings() const {
  const int queues = hardware_queues(profile_ ? &*profile_ : nullptr);
  if (is_cuda()) {
    return fmt::format(
        "backend cuda, {}, tensors {}{}, {}, {} hardware queues",
        ranks_text(),
        options_.gpu.cuda.storage == Storage::kFloat32 ? "in FP32" : "as their types say",
        options_.gpu.fuses_attention ? ", fused attention" : "",
        options_.gpu.cuda.uses_graph ? "one graph" : "launched one by one",
        queues);
  }
  return fmt::format(
      "{}, clock {}, {}, {} hardware queues",
      options_.launcher.empty() ? "backend cpu" : "processes of: " + options_.launcher,
      name(options_.clock),
      options_.modelled ? "operations modelled" : fmt::format("dilation {}", options_.dilation),
      queues);
}

std::vector<std::string> Backend::environment() const {
  std::vector<std::string> lines = {settings()};
  if (is_cuda()) {
    const std::vector<std::string> gpu = options_.launcher.empty()
                                             ? gpu_environment(options_.gpu.cuda.device)
                                             : launched_gpu_facts(options_.launcher);
    lines.insert(lines.end(), gpu.begin(), gpu.end());
  }
  lines.push_back(fmt::format("{}, moesim {}", machine_text(), version()));
  lines.push_back(
      fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::now())));
  return lines;
}

std::vector<Trace> traces(const RepeatedRuns& runs) {
  std::vector<Trace> result;
  for (const Execution& run : runs.accepted) {
    result.push_back(run.trace);
  }
  return result;
}

MeasuredRuns measured_runs(const RepeatedRuns& runs) {
  return {.accepted = static_cast<int>(runs.accepted.size()),
          .rejected = runs.num_rejected,
          .median_seconds = runs.iteration().median.seconds(),
          .p25_seconds = runs.iteration().p25.seconds(),
          .lateness_seconds = runs.lateness().seconds(),
          .delay_seconds = runs.delay().seconds(),
          .spread = runs.spread(),
          .stopped = to_string(runs.stopped)};
}

}  // namespace moesim
