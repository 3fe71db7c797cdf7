#pragma once

#include "sim/schedule/model_program.h"

namespace moesim {

// How a schedule passes one micro-batch through the layers of one stage. The Program is at that
// part of the model (ModelProgram::begin) when it is called.
class StageFlow {
 public:
  virtual ~StageFlow() = default;

  // From the input (B, L, M), replicated over mp, to the output, likewise.
  virtual int forward(int input) = 0;
  // From the gradient of the output, partial over mp, to that of the input, likewise.
  virtual int backward(int d_output) = 0;
};

// Appends all passes of all micro-batches on all stages in launch order: the input where the first
// stage begins, the loss where the last ends, and between neighbours a SHIFT of the output forward
// and of its gradient backward, each rank to the one of its place in the next stage. Every boundary
// has a communicator for each direction. Leaves the Program where all stages do the same.
void issue_stages(ModelProgram& program, int compute_stream, StageFlow& flow);

}  // namespace moesim
