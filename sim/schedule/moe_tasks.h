#pragma once

#include <vector>

#include "sim/model/routing.h"
#include "sim/schedule/model_program.h"

namespace moesim {

// The tasks that every flow of an MoE layer is made of, with their operands in the order that
// sim/io/program.h gives. Flows decide buffers, streams and order; they add the tasks.

// Makes one region from another: a collective, or a step that a rank takes by itself.
Task move_task(const Descriptor& descriptor, const Region& from, const Region& to);

// What one gate leaves to the other tasks of its capacity domain, forward and backward.
struct RoutedDomain {
  Gate gate;
  Region input;  // token rows
  int probs = kNone;
  int index = kNone;
  int weight = kNone;
  int d_weight = kNone;  // made by unorder backward
};

// The gate of a domain of `rows` tokens that `ranks_per_domain` consecutive ranks read alike.
Gate make_gate(ModelProgram& program,
               const RoutingDomain& domain,
               const std::vector<int>& experts,
               int copies);

Task gate_task(const ModelProgram& program, const RoutedDomain& domain, int layer);
// Writes the gate's part of the gradient of the input, or adds it to what stands there.
Task gate_backward_task(
    ModelProgram& program, const RoutedDomain& domain, int layer, const Region& d_input, bool add);

// Forward from the domain's input to a buffer; backward from a buffer's gradient to the input's.
Task order_task(const ModelProgram& program, const RoutedDomain& domain, const Region& buffer);
Task order_backward_task(const ModelProgram& program,
                         const RoutedDomain& domain,
                         const Region& d_buffer,
                         const Region& d_input);

Task unorder_task(const ModelProgram& program,
                  const RoutedDomain& domain,
                  const Region& combined,
                  const Region& output);
Task unorder_backward_task(const ModelProgram& program,
                           const RoutedDomain& domain,
                           const Region& combined,
                           const Region& d_output,
                           const Region& d_combined);

// What an expert shard keeps for backward: its input and hidden rows.
struct ExpertActivations {
  Region input;
  Region hidden;
};

// From the input to `outputs` (the result and the hidden rows, or in a recomputation the hidden
// rows alone).
Task expert_task(const ModelProgram& program,
                 int layer,
                 const Region& input,
                 std::vector<Region> outputs);
Task expert_backward_task(ModelProgram& program,
                          int layer,
                          const ExpertActivations& activations,
                          const Region& d_output,
                          const Region& d_input);

}  // namespace moesim
