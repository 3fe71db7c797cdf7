#include "sim/cli/stopping_rule.h"

namespace moesim {
namespace {

constexpr int kLeastRuns = 10;
constexpr int kMostRuns = 30;

}  // namespace

StoppingRule stopping_rule(const BackendOptions& options) {
  return {.least = options.num_runs.value_or(kLeastRuns),
          .most = options.max_runs.value_or(options.num_runs.value_or(kMostRuns)),
          .spread = options.spread};
}

}  // namespace moesim
