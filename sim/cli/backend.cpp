#include "sim/cli/backend.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/utsname.h>

#include "kernels/gemm.h"
#include "kernels/host/host_executor.h"
#include "kernels/host/machine_memory.h"
#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/base/version.h"
#include "sim/cli/launcher.h"
#include "sim/cli/option_values.h"
#include "sim/cli/progress.h"
#include "sim/engine/task_cost.h"
#include "sim/program/work.h"

namespace moesim {
namespace {

// A run that takes longer than this is refused: nobody would wait for ten of them.
constexpr double kMaxSecondsPerRun = 600;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// FLOPs per second of all cores, from what one does on a matrix product of this size.
double measured_flop_rate() {
  constexpr int kSize = 256;
  constexpr int kRepetitions = 8;
  const std::vector<float> a(kSize * kSize, 1.0F);
  const std::vector<float> b(kSize * kSize, 2.0F);
  std::vector<float> c(kSize * kSize);
  const double start = thread_seconds();
  for (int i = 0; i < kRepetitions; ++i) {
    multiply({a.data(), kSize, kSize}, {b.data(), kSize, kSize}, {c.data(), kSize});
  }
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  return cores * kRepetitions * 2.0 * kSize * kSize * kSize / (thread_seconds() - start);
}

double flops_per_rank(const Program& program) {
  double flops = 0;
  for (const Task& task : program.tasks) {
    flops += work_of(program, task).flops;
  }
  return flops;
}

RepeatOptions repeat_options(const BackendOptions& options) {
  constexpr int kMaxRejected = 5;  // disturbed runs for each accepted one before it gives up
  return {.num_runs = options.num_runs, .max_rejected = kMaxRejected * options.num_runs};
}

}  // namespace

Backend::Backend(const BackendOptions& options,
                 const Cluster* cluster,
                 const Profile* profile,
                 const Processes* processes)
    : options_(options), processes_(processes), flop_rate_(measured_flop_rate()) {
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

ExecutedRuns Backend::run(const Program& program) const {
  check_size(program);
  ExecutedRuns executed = repeated(program);
  const RepeatedRuns& runs = executed.runs;
  if (static_cast<int>(runs.accepted.size()) < options_.num_runs) {
    throw Failure(
        fmt::format("{}: only {} of {} runs were not disturbed by the machine; try an idler one, "
                    "or longer tasks (--dilation, slower ports)",
                    program.name,
                    runs.accepted.size(),
                    runs.accepted.size() + static_cast<size_t>(runs.num_rejected)));
  }
  return executed;
}

void Backend::check_size(const Program& program) const {
  const int64_t memory = available_memory();
  const int ranks_here =
      processes_ == nullptr ? program.num_ranks : processes_->num_ranks_here(program);
  const int64_t needed = TensorStore::size(program, ranks_here);
  const double seconds = ranks_here * flops_per_rank(program) / flop_rate_;
  if (needed > memory || seconds > kMaxSecondsPerRun) {
    throw Error(
        program.name,
        fmt::format("one run would take {} of memory (this machine has {} left) and about {} of "
                    "computing; execute a smaller scenario: fewer layers, tokens or ranks",
                    format_bytes(needed),
                    format_bytes(memory),
                    duration_text(seconds)));
  }
}

ExecutedRuns Backend::repeated(const Program& program) const {
  if (processes_ != nullptr) {
    return processes_->run(program, host_options(program), repeat_options(options_));
  }
  if (!options_.launcher.empty()) {
    return launch(program,
                  {.command = options_.launcher,
                   .clock = options_.clock,
                   .dilation = options_.dilation,
                   .hardware_queues = hardware_queues(profile_ ? &*profile_ : nullptr),
                   .repeat = repeat_options(options_)});
  }
  return run_on_threads(program);
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

ExecutedRuns Backend::run_on_threads(const Program& program) const {
  HostOptions host = host_options(program);
  host.cluster = cluster_;
  HostExecutor executor(program, host);
  TensorStore tensors(program);
  RepeatedRuns runs = repeat(executor, repeat_options(options_), tensors);
  return {std::move(runs), results_to_text(tensors)};
}

std::vector<std::string> Backend::environment() const {
  utsname machine{};
  uname(&machine);
  const std::string where =
      options_.launcher.empty() ? "backend cpu" : "processes of: " + options_.launcher;
  return {fmt::format("{}, clock {}, {}",
                      where,
                      name(options_.clock),
                      options_.modelled ? "operations modelled"
                                        : fmt::format("dilation {}", options_.dilation)),
          fmt::format("{} {}, {} cores, moesim {}",
                      machine.sysname,
                      machine.machine,
                      std::thread::hardware_concurrency(),
                      version()),
          fmt::format("{:%Y-%m-%d}, {} accepted runs of each probe",
                      fmt::gmtime(std::chrono::system_clock::now()),
                      options_.num_runs)};
}

std::vector<Trace> traces(const RepeatedRuns& runs) {
  std::vector<Trace> result;
  for (const Execution& run : runs.accepted) {
    result.push_back(run.trace);
  }
  return result;
}

}  // namespace moesim
