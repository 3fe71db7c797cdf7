#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kernels/executor.h"
#include "kernels/inputs.h"
#include "kernels/stopping.h"
#include "kernels/tensor_store.h"

namespace moesim {

struct RepeatOptions {
  InputData data = InputData::kReal;
  // Runs before those that count: they fill caches, touch memory for the first time, and have BLAS
  // make its buffers.
  int num_warmups = 1;
  StoppingRule rule;                    // of accepted runs, by their makespans
  int max_rejected = 30;                // then it ends with fewer
  double max_lateness = 0.02;           // of the run's makespan
  double max_delay = 0.05;              // likewise
  std::function<void()> on_accepted{};  // called after each accepted run; may be empty
};

// Quantiles over accepted runs. A quantile q of n sorted values is the one at floor(q * (n - 1)).
struct Quantiles {
  Time p25;
  Time median;
};

struct RepeatedRuns {
  std::vector<Execution> accepted;
  int num_rejected = 0;
  Stop stopped = Stop::kMost;

  std::vector<Time> makespans() const;
  // Of the makespan.
  Quantiles iteration() const;
  // Of a task's time from transfer to end, over its ranks and the accepted runs.
  Quantiles task(int task) const;
  // The longest of the accepted runs.
  Time lateness() const;
  Time delay() const;
  // How well the makespan's median is known: see median_spread.
  std::optional<double> spread() const;
  // The accepted run whose makespan is the median.
  const Execution& typical() const;
};

// Runs an iteration again and again, each on fresh tensors, until the rule is satisfied. A run that
// this machine disturbed, late by more than `max_lateness` or delayed by more than `max_delay` of
// its makespan, does not count: its time is never judged, so that no run is thrown away for being
// slow. `tensors` holds the results of the last run.
RepeatedRuns repeat(Executor& executor, const RepeatOptions& options, TensorStore& tensors);

}  // namespace moesim
