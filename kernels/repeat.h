#pragma once

#include <vector>

#include "kernels/executor.h"
#include "kernels/inputs.h"
#include "kernels/tensor_store.h"

namespace moesim {

struct RepeatOptions {
  InputData data = InputData::kReal;
  int num_runs = 10;           // accepted ones
  int max_rejected = 30;       // then it ends with fewer
  double max_lateness = 0.02;  // of the run's makespan
};

// Quantiles over accepted runs. A quantile q of n sorted values is the one at floor(q * (n - 1)).
struct Quantiles {
  Time p25;
  Time median;
};

struct RepeatedRuns {
  std::vector<Execution> accepted;
  int num_rejected = 0;

  // Of the makespan.
  Quantiles iteration() const;
  // Of a task's time from transfer to end, over its ranks and the accepted runs.
  Quantiles task(int task) const;
  // The longest of the accepted runs.
  Time lateness() const;
  // The accepted run whose makespan is the median.
  const Execution& typical() const;
};

// Runs an iteration again and again, each on fresh tensors: a run that this machine disturbed,
// late by more than `max_lateness` of its makespan, does not count. `tensors` holds the results of
// the last run.
RepeatedRuns repeat(Executor& executor, const RepeatOptions& options, TensorStore& tensors);

}  // namespace moesim
