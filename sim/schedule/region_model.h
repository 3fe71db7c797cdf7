#pragma once

#include <vector>

#include "sim/schedule/pipeline.h"
#include "sim/schedule/schedule.h"

namespace moesim {

// Uncontended seconds of one layer's tasks in one pass, chunk by chunk in issue order. Steps that a
// group of one rank leaves out take no time.
struct RegionTimes {
  std::vector<double> dispatch;
  std::vector<double> gather;
  std::vector<double> expert;
  std::vector<double> scatter;
  std::vector<double> combine;
  double dense_slot = 0;  // attention with its mp collectives

  int degree() const { return static_cast<int>(expert.size()); }
};

// The AllReduce of n > 0 rows of the dense gradient: startup + n * per_row.
struct ReductionTime {
  double startup = 0;
  double per_row = 0;

  double of(int rows) const { return rows > 0 ? startup + per_row * rows : 0; }
  // The most rows that fit into `seconds`.
  int rows_within(double seconds) const;
};

// Seconds from the first dispatch to the last combine in a region of the pipelined flow, with a
// gradient slice of `slice` seconds right after the last dispatch: FSMoE's three in-order streams,
// or one communication at a time.
double region_seconds(const RegionTimes& times, double slice, bool overlap_intra_with_inter);

// How a region's time depends on its slice: exactly max(alone, busy + slice).
struct RegionLine {
  int degree = 1;
  double alone = 0;
  double busy = 0;

  double seconds(double slice) const;
  double hidden() const;  // the slice that costs nothing
};

RegionLine region_line(const RegionTimes& times, bool overlap_intra_with_inter);

// Asks the evaluator for the times of a one-layer model of the scenario.
struct LayerTimes {
  RegionTimes forward;
  RegionTimes backward;
};

class LayerProbe {
 public:
  LayerProbe(const RoutedScenario& scenario,
             const PipelinePolicy& policy,
             const Evaluator& evaluator);

  LayerTimes times(int forward_degree, int backward_degree) const;
  ReductionTime reduction() const;

 private:
  RoutedScenario scenario_;  // of one layer a stage
  PipelinePolicy policy_;
  const Evaluator* evaluator_;
};

}  // namespace moesim
