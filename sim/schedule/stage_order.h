#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/io/scenario.h"

namespace moesim {

// One micro-batch on one stage.
struct StagePart {
  int stage = 0;
  int micro_batch = 0;

  friend auto operator<=>(const StagePart&, const StagePart&) = default;
};

// What a stage does next: one micro-batch through its layers, forward or backward.
struct StagePass {
  StagePart part;
  Pass pass = Pass::kForward;

  friend bool operator==(const StagePass&, const StagePass&) = default;
};

// A stage's own passes in their order; micro-batches ascend in each direction.
//   GPIPE (Huang et al. 2019): all forward, then all backward.
//   ONE_F_ONE_B (Narayanan et al. 2021, "PipeDream-Flush"): stage s of p goes forward p - 1 - s
//   times, then forward and backward in turn, then backward: it never keeps the activations of more
//   than p - s micro-batches.
std::vector<StagePass> passes_of_stage(int stage, int num_stages, const PipelineConfig& pipeline);

// The passes of all stages in one launch order: each stage's in its own order, and each behind the
// pass of the neighbour that it needs the activations or gradients of. Stages take turns, so that
// what a stage sends stands soon behind the pass that makes it, for the receiver too.
std::vector<StagePass> launch_order(int num_stages, const PipelineConfig& pipeline);

}  // namespace moesim
