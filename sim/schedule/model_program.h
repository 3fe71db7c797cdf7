#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/sizes.h"
#include "sim/program/builder.h"
#include "sim/schedule/routed_scenario.h"
#include "sim/schedule/stage_order.h"

namespace moesim {

// Indices of the groups of a scenario in its Program.
struct GroupIndices {
  int mp = kNone;
  int dp = kNone;
  int esp = kNone;
  int ep = kNone;
  int edp = kNone;
  int ep_esp = kNone;
  int world = kNone;
  int stage = kNone;    // with one stage, world
  int pp = kNone;       // kNone with one stage, as its boundaries
  int pp_even = kNone;  // of stages 0 and 1, 2 and 3, …
  int pp_odd = kNone;
};

// Where a task stands in the model. Layers count from the stage's first.
struct Place {
  Pass pass = Pass::kForward;
  int layer = kNone;
  int chunk = kNone;
};

// A weight matrix of all layers of a stage with its gradient and optimizer state. Layers stand in
// back-propagation order: the last layer's rows come first.
struct Parameters {
  int weight = kNone;
  int gradient = kNone;
  int state = kNone;  // kNone without an optimizer
};

// What the schedules of one scenario share while a Program is built: groups, sizes, the tensors of
// parameters, and short ways to append tasks. The parts of layers (attention_block.h, moe_unit.h,
// parm_flow.h) add the rest. Stages are roles, in their order; a tensor of parameters is one for
// all stages, of which each has its own layers' rows.
class ModelProgram {
 public:
  ModelProgram(const RoutedScenario& scenario, const std::string& schedule);

  const RoutedScenario& scenario() const { return *scenario_; }
  // What a stage computes of a micro-batch.
  const ModelConfig& model() const { return model_; }
  const LayerSizes& sizes() const { return sizes_; }
  const GroupIndices& groups() const { return groups_; }
  ProgramBuilder& builder() { return builder_; }

  // What is appended from here on belongs to this part of the model, at first the first part.
  void begin(const StagePart& part);
  // All stages do it, with what they have of the parameters.
  void begin_all_stages();

  const StagePart& part() const { return part_; }
  int num_stages() const { return scenario_->parallel.pp; }
  bool is_last_micro_batch() const;
  // The number in the whole model of a stage's layer.
  int global_layer(int layer) const { return part_.stage * model_.layers + layer; }
  // What names of tensors and tasks begin with: "micro2.", where there are several, and a layer.
  std::string micro_batch_prefix() const;
  std::string layer_prefix(int layer) const;

  int group_size(int group) const;
  const Tensor& tensor(int index) const { return builder_.tensor(index); }
  int stream(std::string_view name) { return builder_.stream(name); }

  // A tensor of the model's data type, with `columns` per row. `placement` says what the ranks'
  // buffers are of one global tensor; absent, an executor need not know.
  int add_tensor(const std::string& name,
                 int blocks,
                 int rows,
                 int columns,
                 std::vector<Placement> placement = {});
  int add_index_tensor(const std::string& name, int blocks, int rows);
  // Token activations of a batch (B, L, M): one batch for every mp group.
  int add_tokens(const std::string& name);
  int add_input_tokens(const std::string& name);
  // The same, held as partial sums by the ranks of an mp group.
  int add_partial_tokens(const std::string& name);

  Region all(int tensor) const { return builder_.all(tensor); }
  Region rows(int tensor, int first, int count) const {
    return builder_.rows(tensor, first, count);
  }

  // Rows of the dense parameters (weight or gradient) that belong to a layer's attention.
  Region dense_rows(int tensor, int layer) const;
  // Rows of the gate parameters that belong to a layer.
  Region gate_rows(int tensor, int layer) const;
  // The matrices w1, w2[, w3] of a layer's local experts in the expert parameters.
  std::vector<Region> expert_matrices(int tensor, int layer) const;

  const Parameters& dense() const { return dense_; }
  const Parameters& gate() const { return gate_; }
  const Parameters& expert() const { return expert_; }

  // The Program's routing for domains of `rows` tokens, or kNone when routing is balanced.
  int routing(int rows, int ranks_per_domain);
  // Rows per expert of a buffer filled from such a domain: the capacity, or, without a capacity
  // factor, the largest count that the routing gives any rank.
  int buffer_rows(int rows, int ranks_per_domain);

  // Makes the task add to a gradient's rows; the first task that does so only writes them.
  void accumulate(Task& task, const Region& gradient);

  // Appends a task named "[micro<m>.]layer<l>.<pass>.<kind>[.<chunk>]", of the part's stage unless
  // it names roles.
  int add_task(std::string_view kind, int stream, const Place& place, Task task);
  // The end of the forward pass: from the output's loss to the output's gradient, which is partial
  // over mp (member 0 holds it, the others zeros). Returns the gradient's tensor.
  int add_loss(int stream, int output);

  Program build() &&;

 private:
  std::string task_name(std::string_view kind, const Place& place) const;
  int input_seed(const std::string& name) const;
  Parameters add_parameters(const std::string& name,
                            int blocks,
                            int rows,
                            int columns,
                            const std::vector<Placement>& placement);
  // How parameters lie over the stages and inside each.
  std::vector<Placement> over_stages(PlacementAxis axis, std::vector<Placement> inside) const;

  const RoutedScenario* scenario_;
  ModelConfig model_;
  StagePart part_;
  bool all_stages_ = false;
  LayerSizes sizes_;
  ProgramBuilder builder_;
  GroupIndices groups_;
  Parameters dense_;
  Parameters gate_;
  Parameters expert_;
  std::set<std::array<int, 4>> accumulated_;     // stage, tensor, first block, first row
  std::map<std::pair<int, int>, int> routings_;  // by rows and ranks per domain
};

// Start of part `index` of `count` rows cut into `parts` that differ by at most one row.
constexpr int part_begin(int count, int parts, int index) {
  return static_cast<int>(int64_t{count} * index / parts);
}

}  // namespace moesim
