#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/repeat.h"
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
  // Throws Error when they are and the cluster or the profile is missing.
  Backend(const BackendOptions& options, const Cluster* cluster, const Profile* profile);

  // With the cluster of a scenario, and its profile where it names one.
  Backend(const BackendOptions& options, const Inputs& inputs);

  // Runs a Program until enough runs are accepted. Throws Error when it needs more memory or time
  // than this machine has for it, and Failure when too many runs were disturbed.
  [[nodiscard]] RepeatedRuns run(const Program& program) const;

  [[nodiscard]] bool is_modelled() const { return options_.modelled; }

  // The machine and the settings, one line each: what a profile measured here holds for.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  void check_size(const Program& program) const;
  [[nodiscard]] RepeatedRuns run_here(const Program& program) const;

  BackendOptions options_;
  std::optional<Cluster> cluster_;
  std::optional<Profile> profile_;
  double flop_rate_;  // of this machine, FLOPs per second
};

// Traces of accepted runs.
std::vector<Trace> traces(const RepeatedRuns& runs);

}  // namespace moesim
