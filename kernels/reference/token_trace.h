#pragma once

#include <cstdint>
#include <vector>

#include "kernels/row_spans.h"

namespace moesim {

// The tokens that a gate task reads on a rank, row by row. A token's number is its place in the
// global tensor (samples, positions) of attention's result, counted sample by sample; those of
// later micro-batches follow.
struct GateInput {
  int task = 0;
  int rank = 0;
  std::vector<int64_t> tokens;
};

// Follows the tokens from attention through collectives and slices to every gate of the forward
// pass, so that what a schedule routes together is read from its Program. kNone marks rows that are
// not one token's.
std::vector<GateInput> trace_gate_inputs(const RowMap& map);

// A capacity domain: tokens among which a gate gives out an expert's slots, in order of priority.
struct CapacityDomain {
  int layer = 0;
  std::vector<int64_t> tokens;
  std::vector<int64_t> capacity;  // of each expert
  std::vector<int> routed;        // tokens of each expert, where the gate takes its choices from
                                  // them; else empty
  bool round_robin = false;       // neither routing nor capacity
};

// The domains of all layers, each once, however many ranks compute it.
std::vector<CapacityDomain> capacity_domains(const RowMap& map);

}  // namespace moesim
