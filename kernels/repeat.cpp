#include "kernels/repeat.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

Quantiles quantiles(std::vector<Time> times) {
  CHECK(!times.empty(), "quantiles of nothing");
  std::sort(times.begin(), times.end());
  return {times[(times.size() - 1) / 4], times[(times.size() - 1) / 2]};
}

}  // namespace

Quantiles RepeatedRuns::iteration() const {
  std::vector<Time> ends;
  for (const Execution& run : accepted) {
    ends.push_back(run.trace.end);
  }
  return quantiles(std::move(ends));
}

Quantiles RepeatedRuns::task(int task) const {
  std::vector<Time> times;
  for (const Execution& run : accepted) {
    for (const TaskSpan& span : run.trace.spans) {
      if (span.task == task) {
        times.push_back(span.end - span.transfer);
      }
    }
  }
  return quantiles(std::move(times));
}

Time RepeatedRuns::lateness() const {
  Time latest;
  for (const Execution& run : accepted) {
    latest = std::max(latest, run.lateness);
  }
  return latest;
}

const Execution& RepeatedRuns::typical() const {
  const Time median = iteration().median;
  return *std::find_if(accepted.begin(), accepted.end(), [&](const Execution& run) {
    return run.trace.end == median;
  });
}

RepeatedRuns repeat(Executor& executor, const RepeatOptions& options, TensorStore& tensors) {
  RepeatedRuns runs;
  while (static_cast<int>(runs.accepted.size()) < options.num_runs &&
         runs.num_rejected <= options.max_rejected) {
    tensors.clear();
    fill_inputs(options.data, tensors);
    Execution run = executor.run(tensors);
    if (run.lateness > run.trace.end.scaled(options.max_lateness)) {
      ++runs.num_rejected;
    } else {
      runs.accepted.push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace moesim
