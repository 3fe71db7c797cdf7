#include "sim/schedule/region_model.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sim/base/check.h"
#include "sim/schedule/moe_tasks.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

double at(const std::vector<double>& times, size_t chunk) {
  return chunk < times.size() ? times[chunk] : 0;
}

void add(RegionTimes& times, std::string_view kind, double seconds) {
  if (kind == task_kind::kDispatch) {
    times.dispatch.push_back(seconds);
  } else if (kind == task_kind::kEspAllGather) {
    times.gather.push_back(seconds);
  } else if (kind == task_kind::kExpert) {
    times.expert.push_back(seconds);
  } else if (kind == task_kind::kEspReduceScatter) {
    times.scatter.push_back(seconds);
  } else if (kind == task_kind::kCombine) {
    times.combine.push_back(seconds);
  } else if (kind == task_kind::kAttention || kind == task_kind::kMpAllGather ||
             kind == task_kind::kMpReduceScatter) {
    times.dense_slot += seconds;
  }
}

}  // namespace

int ReductionTime::rows_within(double seconds) const {
  if (seconds <= startup || per_row <= 0) {
    return 0;
  }
  constexpr double kMost = 1e9;
  return static_cast<int>(std::min(kMost, std::floor((seconds - startup) / per_row)));
}

double region_seconds(const RegionTimes& times, double slice, bool overlap_intra_with_inter) {
  const auto degree = static_cast<size_t>(times.degree());
  double compute = 0;
  double inter = 0;
  double intra_stream = 0;
  double& intra = overlap_intra_with_inter ? intra_stream : inter;
  std::vector<double> ready(degree);  // end of the chunk's latest step
  for (size_t i = 0; i < degree; ++i) {
    inter += at(times.dispatch, i);
    const double arrived = inter;
    if (overlap_intra_with_inter && i + 1 == degree) {
      inter += slice;
    }
    intra = std::max(intra, arrived) + at(times.gather, i);
    ready[i] = intra;
  }
  if (!overlap_intra_with_inter) {
    inter += slice;
  }
  for (size_t i = 0; i < degree; ++i) {
    compute = std::max(compute, ready[i]) + times.expert[i];
    ready[i] = compute;
  }
  for (size_t i = 0; i < degree; ++i) {
    intra = std::max(intra, ready[i]) + at(times.scatter, i);
    inter = std::max(inter, intra) + at(times.combine, i);
  }
  return inter;
}

double RegionLine::seconds(double slice) const {
  return std::max(alone, busy + slice);
}

double RegionLine::hidden() const {
  return std::max(0.0, alone - busy);
}

RegionLine region_line(const RegionTimes& times, bool overlap_intra_with_inter) {
  const double alone = region_seconds(times, 0, overlap_intra_with_inter);
  const double large = 2 * alone + 1;
  return {times.degree(), alone, region_seconds(times, large, overlap_intra_with_inter) - large};
}

LayerProbe::LayerProbe(const RoutedScenario& scenario,
                       const PipelinePolicy& policy,
                       const Evaluator& evaluator)
    : scenario_(scenario.one_layer()), policy_(policy), evaluator_(&evaluator) {}

LayerTimes LayerProbe::times(int forward_degree, int backward_degree) const {
  const int layers = scenario_.model.layers;
  const Degrees degrees = Degrees::uniform(layers, forward_degree, backward_degree);
  const GradientPlan no_slots{std::vector<GradientSlots>(static_cast<size_t>(layers))};
  const Program program = Pipeline(scenario_, "probe", policy_, degrees, no_slots).build();
  const std::vector<Time> durations = evaluator_->durations(program);
  LayerTimes times;
  for (size_t task = 0; task < program.tasks.size(); ++task) {
    const Pass pass = program.tasks[task].pass;
    const bool probed = program.tasks[task].layer == 0;
    if (probed && (pass == Pass::kForward || pass == Pass::kBackward)) {
      add(pass == Pass::kForward ? times.forward : times.backward,
          program.tasks[task].kind,
          durations[task].seconds());
    }
  }
  return times;
}

ReductionTime LayerProbe::reduction() const {
  ModelProgram program(scenario_, "probe");
  const int stream = program.stream("inter");
  const int rows = program.sizes().attention_weight_rows();
  const Collective reduce{CollectiveOperation::kAllReduce, program.groups().dp};
  const Region half = program.rows(program.dense().weight, 0, rows / 2);
  const Region all = program.all(program.dense().weight);
  program.add_task("half", stream, {Pass::kBackward}, move_task(reduce, half, half));
  program.add_task("all", stream, {Pass::kBackward}, move_task(reduce, all, all));
  const std::vector<Time> durations = evaluator_->durations(std::move(program).build());
  CHECK(durations.size() == 2);
  const double per_row =
      (durations[1] - durations[0]).seconds() / static_cast<double>(rows - rows / 2);
  return {durations[1].seconds() - per_row * rows, per_row};
}

}  // namespace moesim
