#pragma once

#include <string>
#include <vector>

#include "kernels/repeat.h"
#include "sim/cli/options.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"

namespace moesim {

// Runs Programs for real, as `--backend` and its options ask for.
class Backend {
 public:
  Backend(const BackendOptions& options, const Cluster& cluster)
      : options_(options), cluster_(cluster) {}

  // Runs a Program until enough runs are accepted. Throws Error when it needs more memory or time
  // than this machine has for it, and std::runtime_error when too many runs were disturbed.
  [[nodiscard]] RepeatedRuns run(const Program& program) const;

  // The machine and the settings, one line each: what a profile measured here holds for.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  const BackendOptions& options_;
  const Cluster& cluster_;
};

// Traces of accepted runs.
std::vector<Trace> traces(const RepeatedRuns& runs);

}  // namespace moesim
