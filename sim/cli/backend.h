#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/host/host_options.h"
#include "kernels/mpi/processes.h"
#include "kernels/repeat.h"
#include "kernels/results.h"
#include "sim/cli/options.h"
#include "sim/io/cluster.h"
#include "sim/io/inputs.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

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

  // Runs a Program until enough runs are accepted. Throws Error when it needs more memory or time
  // than this machine has for it, and Failure when too many runs were disturbed.
  [[nodiscard]] ExecutedRuns run(const Program& program) const;

  [[nodiscard]] bool is_modelled() const { return options_.modelled; }

  // The machine and the settings, one line each: what a profile measured here holds for.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  void check_size(const Program& program) const;
  [[nodiscard]] HostOptions host_options(const Program& program) const;
  [[nodiscard]] ExecutedRuns repeated(const Program& program) const;
  [[nodiscard]] ExecutedRuns run_on_threads(const Program& program) const;

  BackendOptions options_;
  std::optional<Cluster> cluster_;
  std::optional<Profile> profile_;
  const Processes* processes_;
  double flop_rate_;  // of this machine, FLOPs per second
};

// Traces of accepted runs.
std::vector<Trace> traces(const RepeatedRuns& runs);

}  // namespace moesim
