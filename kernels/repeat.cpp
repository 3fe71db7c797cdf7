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

bool is_disturbed(const Execution& run, const RepeatOptions& options) {
  return run.lateness > run.trace.end.scaled(options.max_lateness) ||
         run.delay > run.trace.end.scaled(options.max_delay);
}

}  // namespace

std::vector<Time> RepeatedRuns::makespans() const {
  std::vector<Time> ends;
  for (const Execution& run : accepted) {
    ends.push_back(run.trace.end);
  }
  return ends;
}

Quantiles RepeatedRuns::iteration() const {
  return quantiles(makespans());
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

Time RepeatedRuns::delay() const {
  Time longest;
  for (const Execution& run : accepted) {
    longest = std::max(longest, run.delay);
  }
  return longest;
}

std::optional<double> RepeatedRuns::spread() const {
  return median_spread(makespans());
}

const Execution& RepeatedRuns::typical() const {
  const Time median = iteration().median;
  return *std::find_if(accepted.begin(), accepted.end(), [&](const Execution& run) {
    return run.trace.end == median;
  });
}

RepeatedRuns repeat(Executor& executor, const RepeatOptions& options, TensorStore& tensors) {
  const auto run_once = [&] {
    tensors.clear();
    fill_inputs(options.data, tensors);
    return executor.run(tensors);
  };
  for (int i = 0; i < options.num_warmups; ++i) {
    run_once();
  }
  RepeatedRuns runs;
  while (true) {
    const std::optional<Stop> stop = reason_to_stop(options.rule, runs.makespans());
    if (stop || runs.num_rejected > options.max_rejected) {
      runs.stopped = stop.value_or(Stop::kDisturbed);
      return runs;
    }
    Execution run = run_once();
    if (is_disturbed(run, options)) {
      ++runs.num_rejected;
      continue;
    }
    runs.accepted.push_back(std::move(run));
    if (options.on_accepted) {
      options.on_accepted();
    }
  }
}

}  // namespace moesim
