#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gpu/gpu.h"
#include "kernels/host/host_options.h"
#include "kernels/mpi/processes.h"
#include "kernels/repeat.h"
#include "kernels/results.h"
#include "sim/cli/options.h"
#include "sim/cli/run_size.h"
#include "sim/io/cluster.h"
#include "sim/io/inputs.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/report/measured_runs.h"

namespace moesim {

// Runs Programs for real, as `--backend` and its options ask for.
class Backend {
 public:
  // Without a cluster, links are not paced. Of the profile its hardware queues count, and the
  // operations' times where the options say that they are modelled.
  // Throws Error when they are and the cluster or the profile is missing. With `processes`, to
  // which a reference is kept, Programs run on all of them, whose links are not paced: all make
  // equal backends.
  Backend(const BackendOptions& options,
          const Cluster* cluster,
          const Profile* profile,
          const Processes* processes = nullptr);

  // With the cluster of a scenario, and its profile where it names one.
  Backend(const BackendOptions& options, const Inputs& inputs);

  // Throws Error where this machine has not the memory for one of the Programs, or nobody would
  // wait for all runs of all, and Failure where the GPU's is too small for one, or there is none.
  // Runs nothing. GPUs of other processes are looked at by them, before they run.
  void require_runnable(const std::vector<Program>& programs) const;

  // Runs a Program until enough runs are accepted, after one that does not count. `on_accepted` may
  // be empty; it hears nothing of other processes' runs. Throws Error for what is not runnable, and
  // Failure when too many runs were disturbed.
  [[nodiscard]] ExecutedRuns run(const Program& program,
                                 const std::function<void()>& on_accepted = {}) const;

  // What a Program's kernels take by name, each alone, on --backend cuda with one GPU.
  [[nodiscard]] std::vector<KernelTime> kernel_times(const Program& program) const;

  [[nodiscard]] bool is_modelled() const { return options_.modelled; }

  [[nodiscard]] bool is_cuda() const { return options_.name == "cuda"; }

  [[nodiscard]] const StoppingRule& rule() const { return rule_; }

  // The settings, the machine and the time, one line each: what is measured now holds for them.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  [[nodiscard]] bool has_paced_links() const {
    return options_.launcher.empty() && processes_ == nullptr;
  }
  void require_machine(const std::vector<Program>& programs) const;
  void require_paced(const Program& program) const;
  [[nodiscard]] RunSize size_of(const Program& program) const;
  [[nodiscard]] HostOptions host_options(const Program& program) const;
  [[nodiscard]] ExecutedRuns repeated(const Program& program,
                                      const std::function<void()>& on_accepted) const;
  [[nodiscard]] GpuRanks gpu_ranks() const;
  [[nodiscard]] ExecutedRuns run_on_gpus(const Program& program,
                                         const RepeatOptions& options) const;
  [[nodiscard]] ExecutedRuns run_on_threads(const Program& program,
                                            const RepeatOptions& options) const;
  [[nodiscard]] std::string settings() const;
  [[nodiscard]] std::string ranks_text() const;

  BackendOptions options_;
  StoppingRule rule_;
  MachineSpeed speed_;
  std::optional<Cluster> cluster_;
  std::optional<Profile> profile_;
  const Processes* processes_;
};

// Traces of accepted runs.
std::vector<Trace> traces(const RepeatedRuns& runs);

// What reports say of them.
MeasuredRuns measured_runs(const RepeatedRuns& runs);

}  // namespace moesim
