#include "sim/schedule/update.h"

#include <utility>

#include "sim/schedule/moe_tasks.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

constexpr Place kUpdate{Pass::kUpdate};

void reduce(ModelProgram& program, std::string_view kind, int stream, int group, int gradient) {
  if (program.group_size(group) == 1) {
    return;
  }
  const Region all = program.all(gradient);
  const Collective all_reduce{CollectiveOperation::kAllReduce, group};
  program.add_task(kind, stream, kUpdate, move_task(all_reduce, all, all));
}

void step(ModelProgram& program, int stream, const Parameters& parameters) {
  Task task;
  task.descriptor = Optimizer{*program.model().optimizer};
  task.writes = {program.all(parameters.weight)};
  if (parameters.state != kNone) {
    task.writes.push_back(program.all(parameters.state));
  }
  task.reads = task.writes;
  task.reads.insert(task.reads.begin(), program.all(parameters.gradient));
  const std::string& weight = program.tensor(parameters.weight).name;
  task.name = "update." + weight;
  program.add_task(task_kind::kOptimizer, stream, kUpdate, std::move(task));
}

}  // namespace

void append_update(ModelProgram& program, const LayerStreams& streams, GateReads gate_reads) {
  const GroupIndices& groups = program.groups();
  const int gate_group = gate_reads == GateReads::kSlice ? groups.stage : groups.dp;
  reduce(program,
         task_kind::kGateGradientAllReduce,
         streams.inter,
         gate_group,
         program.gate().gradient);
  reduce(program,
         task_kind::kExpertGradientAllReduce,
         streams.inter,
         groups.edp,
         program.expert().gradient);
  if (program.model().optimizer) {
    for (const Parameters& parameters : {program.dense(), program.gate(), program.expert()}) {
      step(program, streams.compute, parameters);
    }
  }
}

}  // namespace moesim
