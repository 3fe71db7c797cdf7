#include "sim/cli/validate/region_program.h"

#include <utility>

#include "sim/engine/simulate.h"
#include "sim/schedule/task_kinds.h"

namespace moesim::validation {
namespace {

// Buffers have T = 1*1*32/2 = 16 rows per expert, enough for eight chunks.
Scenario two_layers() {
  Scenario scenario;
  scenario.name = "region";
  scenario.model.layers = 2;
  scenario.model.batch = 1;
  scenario.model.sequence = 64;
  scenario.model.embedding = 4;
  scenario.model.hidden = 4;
  scenario.model.heads = 2;
  scenario.model.kv_heads = 2;
  scenario.model.experts = 2;
  scenario.model.top_k = 1;
  scenario.parallel = {.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1};
  return scenario;
}

double time_of(const Task& task, const ChunkTimes& times) {
  if (task.pass != Pass::kBackward || task.layer != 0) {
    return 0;
  }
  if (task.kind == task_kind::kDispatch || task.kind == task_kind::kCombine) {
    return times.a;
  }
  if (task.kind == task_kind::kEspAllGather) {
    return times.g;
  }
  if (task.kind == task_kind::kEspReduceScatter) {
    return times.s;
  }
  if (task.kind == task_kind::kExpert) {
    return times.e;
  }
  // The first AllReduce is the slice; the second, after the last attention, carries the rest.
  return task.kind == task_kind::kGradientAllReduce && task.chunk == 0 ? times.gar : 0;
}

}  // namespace

RegionProgram::RegionProgram(const PipelinePolicy& policy, int degree, bool has_slice) {
  const RoutedScenario scenario(two_layers());
  GradientPlan gradients;
  gradients.layers.resize(2);
  if (has_slice) {
    gradients.layers.front().region = {1};
  }
  program_ =
      Pipeline(scenario, "region", policy, Degrees::uniform(2, degree, degree), gradients).build();
}

Time RegionProgram::simulate(const ChunkTimes& picoseconds) const {
  Program program = program_;
  for (Task& task : program.tasks) {
    const auto time = static_cast<std::int64_t>(time_of(task, picoseconds));
    task.descriptor = Fixed{Time::from_picoseconds(time)};
  }
  SimulationOptions options;
  options.keep_spans = false;
  return moesim::simulate(program, nullptr, nullptr, options).end;
}

}  // namespace moesim::validation
