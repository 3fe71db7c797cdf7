#include "sim/cli/evaluator.h"

#include <cstddef>

#include "sim/analysis/memory.h"

namespace moesim {
namespace {

Time end_of(const Trace& trace, Pass pass) {
  return trace.pass_end[static_cast<std::size_t>(pass)];
}

Evaluation passes_of(const Trace& trace) {
  return {.forward = end_of(trace, Pass::kForward),
          .backward = end_of(trace, Pass::kBackward),
          .total = trace.end};
}

bool fits(const Program& program,
          const Cluster& cluster,
          const Profile& profile,
          Resolution resolution) {
  const Trace trace = simulate(program, &cluster, &profile, {.resolution = resolution});
  return memory_use(program, trace).peak_bytes <= cluster.gpu_memory_bytes;
}

}  // namespace

Evaluator make_evaluator(const Cluster& cluster, const Profile& profile, Resolution resolution) {
  const SimulationOptions brief{.resolution = resolution, .keep_spans = false};
  return {
      .evaluate =
          [&cluster, &profile, brief](const Program& program) {
            return passes_of(simulate(program, &cluster, &profile, brief));
          },
      .durations =
          [&cluster, &profile](const Program& program) {
            return task_durations(program, &cluster, &profile);
          },
      .fits = [&cluster, &profile, resolution](
                  const Program& program) { return fits(program, cluster, profile, resolution); }};
}

}  // namespace moesim
