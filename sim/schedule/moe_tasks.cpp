#include "sim/schedule/moe_tasks.h"

#include <utility>

namespace moesim {
namespace {

// Blocks of a buffer that has reached its experts repeat the rank's local experts.
Expert local_experts(const ModelProgram& program, const Region& buffer) {
  Expert expert;
  expert.swiglu = program.model().feed_forward == FeedForward::kSwiglu;
  for (int block = 0; block < buffer.num_blocks; ++block) {
    expert.experts.push_back(block % program.sizes().local_experts);
  }
  return expert;
}

Task order_between(const ModelProgram& program,
                   const RoutedDomain& domain,
                   const Region& from,
                   const Region& to) {
  Task task = move_task(Order{domain.gate.experts}, from, to);
  task.reads.push_back(program.all(domain.index));
  return task;
}

void append(std::vector<Region>& regions, const std::vector<Region>& more) {
  regions.insert(regions.end(), more.begin(), more.end());
}

}  // namespace

Task move_task(const Descriptor& descriptor, const Region& from, const Region& to) {
  Task task;
  task.descriptor = descriptor;
  task.reads = {from};
  task.writes = {to};
  return task;
}

Gate make_gate(ModelProgram& program,
               const RoutingDomain& domain,
               const std::vector<int>& experts,
               int copies) {
  const ModelConfig& model = program.model();
  return {model.gate,
          model.top_k,
          experts,
          program.routing(domain.rows, domain.ranks_per_domain),
          !model.capacity_factor.has_value(),
          copies};
}

Task gate_task(const ModelProgram& program, const RoutedDomain& domain, int layer) {
  Task task;
  task.descriptor = domain.gate;
  task.reads = {domain.input, program.gate_rows(program.gate().weight, layer)};
  task.writes = {program.all(domain.probs), program.all(domain.index), program.all(domain.weight)};
  return task;
}

Task gate_backward_task(
    ModelProgram& program, const RoutedDomain& domain, int layer, const Region& d_input, bool add) {
  Task task;
  task.descriptor = domain.gate;
  task.reads = {program.all(domain.d_weight),
                program.all(domain.probs),
                program.all(domain.index),
                domain.input,
                program.gate_rows(program.gate().weight, layer)};
  if (add) {
    task.reads.push_back(d_input);
  }
  task.writes = {d_input};
  program.accumulate(task, program.gate_rows(program.gate().gradient, layer));
  return task;
}

Task order_task(const ModelProgram& program, const RoutedDomain& domain, const Region& buffer) {
  return order_between(program, domain, domain.input, buffer);
}

Task order_backward_task(const ModelProgram& program,
                         const RoutedDomain& domain,
                         const Region& d_buffer,
                         const Region& d_input) {
  return order_between(program, domain, d_buffer, d_input);
}

Task unorder_task(const ModelProgram& program,
                  const RoutedDomain& domain,
                  const Region& combined,
                  const Region& output) {
  Task task;
  task.descriptor = Unorder{domain.gate.experts};
  task.reads = {combined, program.all(domain.index), program.all(domain.weight)};
  task.writes = {output};
  return task;
}

Task unorder_backward_task(const ModelProgram& program,
                           const RoutedDomain& domain,
                           const Region& combined,
                           const Region& d_output,
                           const Region& d_combined) {
  Task task;
  task.descriptor = Unorder{domain.gate.experts};
  task.reads = {d_output, combined, program.all(domain.index), program.all(domain.weight)};
  task.writes = {d_combined, program.all(domain.d_weight)};
  return task;
}

Task expert_task(const ModelProgram& program,
                 int layer,
                 const Region& input,
                 std::vector<Region> outputs) {
  Task task;
  task.descriptor = local_experts(program, input);
  task.reads = {input};
  append(task.reads, program.expert_matrices(program.expert().weight, layer));
  task.writes = std::move(outputs);
  return task;
}

Task expert_backward_task(ModelProgram& program,
                          int layer,
                          const ExpertActivations& activations,
                          const Region& d_output,
                          const Region& d_input) {
  Task task;
  task.descriptor = local_experts(program, activations.input);
  task.reads = {d_output, activations.input, activations.hidden};
  append(task.reads, program.expert_matrices(program.expert().weight, layer));
  task.writes = {d_input};
  for (const Region& matrix : program.expert_matrices(program.expert().gradient, layer)) {
    program.accumulate(task, matrix);
  }
  return task;
}

}  // namespace moesim
