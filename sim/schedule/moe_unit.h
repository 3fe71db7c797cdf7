#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/schedule/model_program.h"
#include "sim/schedule/moe_tasks.h"

namespace moesim {

// Where the tasks of a layer go. Equal indices put communications on one stream.
struct LayerStreams {
  int compute = kNone;
  int intra = kNone;
  int inter = kNone;
  int routing = kNone;  // gate, order, unorder
};

// One gate domain of an MoE layer in the flow of the FSMoE paper (section 2): gate and order on the
// rank's own tokens, then per chunk AlltoAll dispatch over ep, AllGather over esp, expert shard,
// ReduceScatter over esp, AlltoAll combine, then unorder. Backward runs the same collectives on the
// gradients. Collectives of one-rank groups are left out. The caller decides the order in which the
// steps are issued; input, output and gradients are regions of token rows.
class MoeUnit {
 public:
  struct Options {
    LayerStreams streams;
    int layer = 0;
    int unit = 0;  // index among the layer's gate domains
    int num_units = 1;
    int domain_rows = 0;
    int pad_rows_to = 1;  // buffers have a multiple of this many rows per expert
  };

  MoeUnit(ModelProgram& program, const Options& options);

  // Gate and order in the pass, forward or recompute; cuts the buffer into `degree` chunks.
  void route(Pass pass, const Region& input, int degree);
  // The gradient of the output: unorder backward; cuts the buffer anew.
  void unorder_backward(const Region& d_output, int degree);

  // The steps of chunk i in the pass that route or unorder_backward began. Each returns the task,
  // or kNone where a group of one rank needs none.
  Pass pass() const { return pass_; }
  int num_chunks() const { return static_cast<int>(chunk_begin_.size()) - 1; }
  int dispatch(int chunk);
  int gather(int chunk);
  int expert(int chunk);
  int scatter(int chunk);
  int combine(int chunk);
  // The unit's next collective starts only after these tasks, which protect no data.
  void hold(std::vector<int> order_only) { order_only_ = std::move(order_only); }
  // In a backward pass: the experts forward again for their hidden activations only.
  void recompute_hidden();

  void unorder(const Region& output);
  // Order and gate backward: writes the gradient of the input.
  void route_backward(const Region& d_input);

 private:
  // The buffers that a chunk passes through; a step over a group of one rank keeps its buffer.
  struct Buffers {
    int sent = kNone;      // (E, T, M)
    int received = kNone;  // (E, T, M), blocks by source
    int gathered = kNone;  // (esp * E, T, M)
    int produced = kNone;  // (esp * E, T, M), partial over esp
    int reduced = kNone;   // (E, T, M)
    int combined = kNone;  // (E, T, M)
  };

  struct Step {
    std::string_view kind;
    int stream = kNone;
    CollectiveOperation operation = CollectiveOperation::kAllToAll;
    int group = kNone;
  };

  Buffers add_buffers(const std::string& prefix);
  int add_buffer(const std::string& name, int blocks, int columns);
  Region chunk_rows(int tensor, int chunk) const;
  Place place(int chunk) const;
  Place unit_place() const;
  std::string prefix() const;
  void cut(int degree);
  void begin_hidden(const char* name);
  int expert_forward(int chunk, bool hidden_only);
  int expert_backward(int chunk);
  void add_routing_task(std::string_view kind, Task task);
  const Buffers& current() const;
  int exchange(const Step& step, int chunk, int from, int to);

  ModelProgram* program_;
  Options options_;
  int buffer_rows_;                  // per expert
  std::vector<int> global_experts_;  // the expert of each block of a sent buffer
  Pass pass_ = Pass::kForward;
  std::vector<int> chunk_begin_;  // rows; one more entry than chunks
  RoutedDomain domain_;
  int hidden_ = kNone;
  Buffers activations_;
  std::vector<int> order_only_;
  Buffers gradients_;
};

}  // namespace moesim
