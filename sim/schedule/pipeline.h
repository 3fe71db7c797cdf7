#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/schedule/attention_block.h"
#include "sim/schedule/gradient_plan.h"
#include "sim/schedule/model_program.h"
#include "sim/schedule/moe_unit.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/stage_flow.h"

namespace moesim {

// What a pipelined schedule decides besides degrees and gradient slots.
struct PipelinePolicy {
  // Intra- and inter-node collectives on streams of their own. Otherwise one communication at a
  // time, and dense gradient slots on a stream beside it that the next MoE region waits for.
  bool overlap_intra_with_inter = false;
  bool reverse_backward_chunks = false;
  // Gate, order and unorder between the collectives that they serve, so that they do not hold up
  // the compute stream while they wait for them.
  bool route_beside_communication = false;
};

// The flow of the FSMoE paper (section 2) for a whole model, stage by stage and micro-batch by
// micro-batch, in chunks; layer input and output are replicated
// over mp: attention, MP-ReduceScatter, MoE, MP-AllGather, and backward mirrors it. Attention is
// cut into `degrees.non_moe` chunks of the sequence, the capacity buffers into forward and backward
// chunks. Where both are larger than one, gate domains ("units") pass through the layers one behind
// the other: a unit's attention in the next layer is issued behind the experts of the unit that
// follows it, so that it overlaps with that unit's communication (SP-MoE).
class Pipeline : private StageFlow {
 public:
  Pipeline(const RoutedScenario& scenario,
           const std::string& schedule,
           const PipelinePolicy& policy,
           const Degrees& degrees,
           GradientPlan gradients);

  Program build() &&;

 private:
  // A layer of one micro-batch.
  struct Layer {
    std::unique_ptr<AttentionBlock> attention;
    std::vector<MoeUnit> units;
    std::vector<Region> unit_input;   // token rows between MP-ReduceScatter and gate
    std::vector<Region> unit_output;  // token rows between unorder and MP-AllGather
    int input = kNone;                // (B, L, M), replicated over mp
    int output = kNone;
    int d_output = kNone;     // partial over mp
    int d_attention = kNone;  // replicated over mp
  };

  int forward(int input) override;
  int backward(int d_output) override;

  // Geometry.
  int num_layers() const { return program_.model().layers; }
  int attention_chunks() const { return degrees_.non_moe / num_units_; }  // of a unit
  SequenceRange sequence_range(int chunk) const;
  int sequence_label(int chunk) const { return degrees_.non_moe > 1 ? chunk : kNone; }
  SequenceRange unit_range(int unit) const;
  int token_rows(const SequenceRange& range) const;  // of a rank's slice
  int moe_degree(int layer, Pass pass) const;        // of a unit
  const GradientSlots& slots(int layer) const;
  int lag() const { return num_units_ > 1 ? 1 : 0; }  // units between experts and next attention

  // Forward, and forward again for recomputation (pipeline.cpp).
  Layer make_layer(int layer, Pass pass, int input);
  void issue_forward();
  void forward_step(int step);
  void attend(Layer& layer, int unit);
  void open(Layer& layer, const Place& place, int unit);
  void close(Layer& layer, const Place& place, int unit);
  void issue_dispatches(MoeUnit& unit, const std::vector<int>& slices, const Place& place);
  void issue_experts(MoeUnit& unit);
  int issue_combines(MoeUnit& unit);
  std::vector<int> chunk_order(const MoeUnit& unit, Pass pass) const;
  void recompute(int layer);

  // Tokens between the replicated (B, L, M) form and the rank's slice.
  Region token_region(const std::string& name, int sequence_tensor, int unit);
  void scatter_tokens(const Place& place, int from, const Region& to, int unit);
  void move_tokens(const Place& place,
                   CollectiveOperation operation,
                   int sequence_tensor,
                   const Region& slice,
                   int unit);
  void gather_tokens(const Place& place, const Region& from, int to, int unit);

  // Backward (pipeline_backward.cpp).
  void issue_backward();
  void backward_step(int step);
  void backward_open(int layer, int unit);
  void backward_tokens(int layer, int unit);
  void backward_attention(int layer, int unit);
  void begin_backward(int layer);
  void fill_dense_slot(int layer, int last_combine);
  std::vector<int> reduce_gradient(int stream,
                                   const Place& place,
                                   const std::vector<int>& slices,
                                   const std::vector<int>& order_only);

  PipelinePolicy policy_;
  Degrees degrees_;
  GradientPlan gradients_;
  ModelProgram program_;
  LayerStreams streams_;
  int num_units_;
  std::vector<Layer> layers_;                     // of the part of the model that is being issued
  std::map<StagePart, std::vector<Layer>> kept_;  // of those that have been forward only
  // Of the stage whose last micro-batch goes backward.
  std::vector<int> held_back_;  // dense slots that the next MoE region waits for
  int reduced_rows_ = 0;        // of the dense gradient
  int num_reductions_ = 0;
};

}  // namespace moesim
