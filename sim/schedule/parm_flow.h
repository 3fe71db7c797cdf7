#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/schedule/attention_block.h"
#include "sim/schedule/model_program.h"
#include "sim/schedule/moe_tasks.h"
#include "sim/schedule/moe_unit.h"
#include "sim/schedule/stage_flow.h"
#include "sim/schedule/update.h"

namespace moesim {

// What Parm's three flows (INFOCOM'24) share: every rank of an mp group holds the same layer
// input and output; attention's partial result is all-reduced over mp; nothing is pipelined by
// chunks; the dense gradient of a layer is all-reduced right after its attention. A flow derives
// from this and says how the tokens reach the experts and come back.
class ParmFlow : private StageFlow {
 public:
  Program build() &&;

 protected:
  ParmFlow(const RoutedScenario& scenario,
           const std::string& schedule,
           bool two_communicators,
           GateReads gate_reads);

  // The capacity buffer that a gate fills: its blocks and their experts.
  struct BufferShape {
    std::vector<int> experts;
    int rows = 0;
    int domains = 1;
  };

  // What a layer keeps for backward.
  struct Layer {
    std::unique_ptr<AttentionBlock> attention;
    int input = kNone;   // (B, L, M)
    int output = kNone;  // (B, L, M)
    BufferShape shape;
    RoutedDomain domain;
    int expert_input = kNone;
    int hidden = kNone;
    int combined = kNone;  // what unorder reads
  };

  // From the replicated tokens `from` (B, L, M) to layer.combined, and from there to layer.output.
  virtual void to_experts_and_back(Layer& layer, const Place& place, const Region& from) = 0;
  virtual void to_output(Layer& layer, const Place& place) = 0;
  // From the gradient of the output, partial over mp, to that of the tokens, replicated.
  virtual void backward_through(Layer& layer, const Place& place, int d_output, int d_tokens) = 0;

  // Steps that flows put together. Each returns the tensor that it fills.
  void gate(Layer& layer, const Place& place, const Region& tokens, int ranks_per_domain);
  int order(Layer& layer, const Place& place);
  int replicate(const Place& place, const std::string& name, int from);
  int exchange(
      const Place& place, const std::string& name, std::string_view kind, int group, int from);
  int experts(Layer& layer, const Place& place, int from);
  int experts_backward(Layer& layer, const Place& place, int d_produced);
  int local_sum(const Place& place, const std::string& name, int from);
  void sum_copies(const Place& place, const Region& from, const Region& to);
  void unorder(const Layer& layer, const Place& place, const Region& to);
  int unorder_backward(Layer& layer, const Place& place, const Region& d_result);
  void order_backward(const Layer& layer, const Place& place, int d_buffer, const Region& d_tokens);
  // Writes the gate's part of the tokens' gradient, or adds it to what stands there.
  void gate_backward(const Layer& layer, const Place& place, const Region& d_tokens, bool add);
  // Keeps the member's own run of `from`; or, from the smaller to the larger region, its reverse:
  // the own run among zeros.
  void slice(const Place& place, int group, const Region& from, const Region& to);
  void reduce(std::string_view kind, const Place& place, int group, const Region& region);

  void add_compute_task(std::string_view kind, const Place& place, Task task);

  std::string name(const Place& place, const std::string& tensor) const;
  int add_like(const Place& place, const std::string& tensor, int like, int blocks);
  int mp() const { return program_.scenario().parallel.mp; }
  int esp() const { return program_.scenario().parallel.esp; }

  ModelProgram program_;
  LayerStreams streams_;

 private:
  int forward(int input) override;
  int backward(int d_output) override;
  void forward_layer(Layer& layer, const Place& place);
  void backward_layer(int layer, int d_output);
  void recompute_hidden(Layer& layer, int index);
  void begin_hidden(Layer& layer, const Place& place);
  Layer make_layer(const Place& place, int input);

  GateReads gate_reads_;
  std::vector<Layer> layers_;                     // of the part of the model that is being issued
  std::map<StagePart, std::vector<Layer>> kept_;  // of those that have been forward only
};

}  // namespace moesim
