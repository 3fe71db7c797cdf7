#include "sim/base/error.h"
#include "sim/schedule/parm_flow.h"
#include "sim/schedule/parm_variants.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

// DeepSpeed-MoE as Parm describes it: every rank gathers the copies of its esp group's tokens and
// gates them all, each copy a capacity domain of its own: ESP-AllGather(B*L*M*N_ESP) -> gate, order
// -> EP-AlltoAll(E*T*M*N_ESP) -> expert shard -> ESP-AllReduce -> EP-AlltoAll -> split.
// Backward has no AllReduce before the expert: each rank keeps its own copy's gradient, and the
// tokens' gradient is reduced over esp last.
class ParmBaseline : public ParmFlow {
 public:
  explicit ParmBaseline(const RoutedScenario& scenario)
      : ParmFlow(scenario, "parm_baseline", false, GateReads::kAll) {}

 protected:
  void to_experts_and_back(Layer& layer, const Place& place, const Region& from) override {
    layer.shape = shape(static_cast<int>(from.num_list_rows()));
    gate(layer, place, gather_copies(place, from), mp());
    const int sent = order(layer, place);
    const int ep = program_.groups().ep;
    const int received = exchange(place, "received", task_kind::kDispatch, ep, sent);
    const int produced = experts(layer, place, received);
    reduce(task_kind::kEspAllReduce, place, program_.groups().esp, program_.all(produced));
    layer.combined = exchange(place, "combined", task_kind::kCombine, ep, produced);
  }

  void to_output(Layer& layer, const Place& place) override {
    const Region output = program_.all(layer.output);
    if (esp() == 1) {
      unorder(layer, place, output);
      return;
    }
    const Region copies =
        program_.all(add_like(place, "results", layer.output, esp() * program_.model().batch));
    unorder(layer, place, copies);
    slice(place, program_.groups().esp, copies, output);
  }

  void backward_through(Layer& layer, const Place& place, int d_output, int d_tokens) override {
    reduce(task_kind::kMpAllReduce, place, program_.groups().mp, program_.all(d_output));
    const int copies = esp() * program_.model().batch;
    Region d_result = program_.all(d_output);
    Region d_gathered = program_.all(d_tokens);
    if (esp() > 1) {
      d_result = program_.all(add_like(place, "results", d_output, copies));
      d_gathered = program_.all(add_like(place, "copies", d_output, copies));
      slice(place, program_.groups().esp, program_.all(d_output), d_result);
    }
    const int ep = program_.groups().ep;
    const int d_combined = unorder_backward(layer, place, d_result);
    const int d_produced = exchange(place, "produced", task_kind::kDispatch, ep, d_combined);
    const int d_received = experts_backward(layer, place, d_produced);
    const int d_sent = exchange(place, "sent", task_kind::kCombine, ep, d_received);
    order_backward(layer, place, d_sent, d_gathered);
    if (esp() == 1) {
      gate_backward(layer, place, d_gathered, true);
      return;
    }
    // What comes back from the experts is this rank's shard's part and is added up over esp; the
    // gate's part is whole on every rank and joins afterwards.
    slice(place, program_.groups().esp, d_gathered, program_.all(d_tokens));
    reduce(task_kind::kEspAllReduce, place, program_.groups().esp, program_.all(d_tokens));
    const Region d_routed = program_.all(add_like(place, "routed", d_output, copies));
    gate_backward(layer, place, d_routed, false);
    add_own_copy(place, d_routed, d_tokens);
  }

 private:
  // Blocks in the order of the AlltoAll: expert owner, copy, local expert.
  BufferShape shape(int tokens) {
    BufferShape shape;
    shape.domains = esp();
    shape.rows = program_.buffer_rows(tokens, mp());
    const int local = program_.sizes().local_experts;
    for (int owner = 0; owner < program_.scenario().parallel.ep; ++owner) {
      for (int copy = 0; copy < esp(); ++copy) {
        for (int expert = 0; expert < local; ++expert) {
          shape.experts.push_back(owner * local + expert);
        }
      }
    }
    return shape;
  }

  void add_own_copy(const Place& place, const Region& copies, int d_tokens) {
    const int own = program_.add_tokens(name(place, "routed_own"));
    const Place at{place.pass, place.layer, 1};  // the layer's second slice
    slice(at, program_.groups().esp, copies, program_.all(own));
    Task task;
    task.descriptor = Elementwise{ElementwiseOperation::kAdd};
    task.reads = {program_.all(own), program_.all(d_tokens)};
    task.writes = {program_.all(d_tokens)};
    program_.add_task(task_kind::kAdd, streams_.compute, place, std::move(task));
  }

  Region gather_copies(const Place& place, const Region& from) {
    if (esp() == 1) {
      return from;
    }
    const Region copies =
        program_.all(add_like(place, "copies", from.tensor, esp() * program_.model().batch));
    const Collective gather{CollectiveOperation::kAllGather, program_.groups().esp};
    program_.add_task(
        task_kind::kEspAllGather, streams_.intra, place, move_task(gather, from, copies));
    return copies;
  }
};

}  // namespace

Program build_parm_baseline(const RoutedScenario& scenario) {
  if (scenario.parallel.mp != scenario.parallel.esp) {
    throw Error(scenario.path,
                "parm_baseline needs mp = esp: its copies of the tokens are those of the mp group; "
                "set parallel.mp and parallel.esp to the same size");
  }
  return ParmBaseline(scenario).build();
}

}  // namespace moesim
