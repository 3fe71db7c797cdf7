#include "sim/schedule/parm_flow.h"
#include "sim/schedule/parm_variants.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

// Parm S1 drops the mp group's duplication before the gate: split the tokens by N_MP -> gate ->
// order -> replicate xN_ESP -> one AlltoAll over EP&ESP (E*T*M*N_ESP/N_MP) -> expert shard ->
// AlltoAll back -> local sum over the copies -> unorder -> MP-AllGather(B*L*M).
class ParmS1 : public ParmFlow {
 public:
  explicit ParmS1(const RoutedScenario& scenario)
      : ParmFlow(scenario, "parm_s1", false, GateReads::kSlice) {}

 protected:
  void to_experts_and_back(Layer& layer, const Place& place, const Region& from) override {
    Region tokens = from;
    if (mp() > 1) {
      tokens = token_slice(place, "tokens");
      slice(place, program_.groups().mp, from, tokens);
    }
    layer.shape = shape(static_cast<int>(tokens.num_list_rows()));
    gate(layer, place, tokens, 1);
    const int sent = replicate(place, "sent", order(layer, place));
    const int ep_esp = program_.groups().ep_esp;
    const int received = exchange(place, "received", task_kind::kDispatch, ep_esp, sent);
    const int produced = experts(layer, place, received);
    const int returned = exchange(place, "returned", task_kind::kCombine, ep_esp, produced);
    layer.combined = local_sum(place, "combined", returned);
  }

  void to_output(Layer& layer, const Place& place) override {
    const Region output = program_.all(layer.output);
    if (mp() == 1) {
      unorder(layer, place, output);
      return;
    }
    const Region result = token_slice(place, "result");
    unorder(layer, place, result);
    gather_over_mp(place, result, output);
  }

  void backward_through(Layer& layer, const Place& place, int d_output, int d_tokens) override {
    Region d_result = program_.all(d_output);
    Region d_slice = program_.all(d_tokens);
    if (mp() > 1) {
      d_result = token_slice(place, "result");
      d_slice = token_slice(place, "token_slice");
      const Collective scatter{CollectiveOperation::kReduceScatter, program_.groups().mp};
      program_.add_task(task_kind::kMpReduceScatter,
                        streams_.intra,
                        place,
                        move_task(scatter, program_.all(d_output), d_result));
    }
    const int ep_esp = program_.groups().ep_esp;
    const int d_combined = unorder_backward(layer, place, d_result);
    const int d_returned = replicate(place, "returned", d_combined);
    const int d_produced = exchange(place, "produced", task_kind::kDispatch, ep_esp, d_returned);
    const int d_received = experts_backward(layer, place, d_produced);
    const int d_sent = exchange(place, "sent", task_kind::kCombine, ep_esp, d_received);
    const int d_buffer = local_sum(place, "buffer", d_sent);
    order_backward(layer, place, d_buffer, d_slice);
    gate_backward(layer, place, d_slice, true);
    if (mp() > 1) {
      gather_over_mp(place, d_slice, program_.all(d_tokens));
    }
  }

 private:
  BufferShape shape(int tokens) {
    BufferShape shape;
    shape.rows = program_.buffer_rows(tokens, 1);
    for (int expert = 0; expert < program_.model().experts; ++expert) {
      shape.experts.push_back(expert);
    }
    return shape;
  }

  Region token_slice(const Place& place, const std::string& tensor) {
    return program_.all(program_.add_tensor(
        name(place, tensor), 1, program_.sizes().token_slice, program_.model().embedding));
  }

  void gather_over_mp(const Place& place, const Region& from, const Region& to) {
    const Collective gather{CollectiveOperation::kAllGather, program_.groups().mp};
    program_.add_task(task_kind::kMpAllGather, streams_.intra, place, move_task(gather, from, to));
  }
};

}  // namespace

Program build_parm_s1(const RoutedScenario& scenario) {
  return ParmS1(scenario).build();
}

}  // namespace moesim
