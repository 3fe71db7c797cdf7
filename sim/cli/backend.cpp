#include "sim/cli/backend.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

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
#include "sim/cli/progress.h"
#include "sim/engine/task_cost.h"
#include "sim/program/work.h"

namespace moesim {
namespace {

// A run that takes longer than this is refused: nobody would wait for ten of them.
constexpr double kMaxSecondsPerRun = 600;
// Disturbed runs for each accepted one before it gives up.
constexpr int kMaxRejected = 5;

const char* name(HostClock clock) {
  switch (clock) {
    case HostClock::kFree:
      return "free";
    case HostClock::kAnchored:
      return "anchored";
    case HostClock::kRaw:
      return "raw";
  }
  return "";
}

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

double total_flops(const Program& program) {
  double flops = 0;
  for (const Task& task : program.tasks) {
    flops += work_of(program, task).flops;
  }
  return flops * program.num_ranks;
}

}  // namespace

Backend::Backend(const BackendOptions& options, const Cluster* cluster, const Profile* profile)
    : options_(options), flop_rate_(measured_flop_rate()) {
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

RepeatedRuns Backend::run(const Program& program) const {
  check_size(program);
  RepeatedRuns runs = options_.launcher.empty() ? run_here(program) : launch(options_, program);
  if (static_cast<int>(runs.accepted.size()) < options_.num_runs) {
    throw Failure(
        fmt::format("{}: only {} of {} runs were not disturbed by the machine; try an idler one, "
                    "or longer tasks (--dilation, slower ports)",
                    program.name,
                    runs.accepted.size(),
                    runs.accepted.size() + static_cast<size_t>(runs.num_rejected)));
  }
  return runs;
}

void Backend::check_size(const Program& program) const {
  const int64_t memory = available_memory();
  const int64_t needed = TensorStore::size(program, program.num_ranks);
  const double seconds = total_flops(program) / flop_rate_;
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

RepeatedRuns Backend::run_here(const Program& program) const {
  HostOptions host;
  host.clock = options_.clock;
  host.dilation = options_.dilation;
  host.hardware_queues = hardware_queues(profile_ ? &*profile_ : nullptr);
  host.cluster = cluster_;
  std::optional<TaskCosts> costs;
  if (options_.modelled) {
    costs.emplace(program, &*cluster_, &*profile_);
    host.operation_time = [&costs](const Task& task, int rank) {
      return costs->duration(task, rank);
    };
  }
  HostExecutor executor(program, host);
  TensorStore tensors(program);
  return repeat(executor,
                {.num_runs = options_.num_runs, .max_rejected = kMaxRejected * options_.num_runs},
                tensors);
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
