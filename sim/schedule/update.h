#pragma once

#include "sim/schedule/model_program.h"
#include "sim/schedule/moe_unit.h"

namespace moesim {

// What a gate computed its gradient from: a slice of the mp group's tokens, so that the slices'
// gradients must be added up, or all of them.
enum class GateReads { kSlice, kAll };

// The update pass: gate gradients are reduced over dp, and over mp where gates read slices; expert
// gradients over edp; then the optimizer, when the scenario has one. The dense gradient has been
// reduced in the backward pass.
void append_update(ModelProgram& program, const LayerStreams& streams, GateReads gate_reads);

}  // namespace moesim
