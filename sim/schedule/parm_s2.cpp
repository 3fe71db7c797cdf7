#include "sim/schedule/parm_flow.h"
#include "sim/schedule/parm_variants.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

// Parm S2 drops the mp group's duplication after the gate: gate on all tokens, split (E, T, M)
// along T by N_MP -> AlltoAll over EP&ESP -> expert shard -> AlltoAll back, step by step, each step
// all-gathered over mp as soon as it has arrived, before the local sum. In step i a rank sends to
// the member i places on; the AllGather of step i runs beside step i+1 on its own communicator.
class ParmS2 : public ParmFlow {
 public:
  explicit ParmS2(const RoutedScenario& scenario)
      : ParmFlow(scenario, "parm_s2", true, GateReads::kAll) {}

 protected:
  void to_experts_and_back(Layer& layer, const Place& place, const Region& from) override {
    layer.shape = shape(static_cast<int>(from.num_list_rows()));
    gate(layer, place, from, mp());
    const int received = own_part_to_experts(place, order(layer, place));
    const int produced = experts(layer, place, received);
    layer.combined = back_and_gather(place, "combined", produced);
  }

  void to_output(Layer& layer, const Place& place) override {
    unorder(layer, place, program_.all(layer.output));
  }

  void backward_through(Layer& layer, const Place& place, int d_output, int d_tokens) override {
    reduce(task_kind::kMpAllReduce, place, program_.groups().mp, program_.all(d_output));
    const int d_combined = unorder_backward(layer, place, program_.all(d_output));
    const int d_produced = own_part_to_experts(place, d_combined);
    const int d_received = experts_backward(layer, place, d_produced);
    const int d_buffer = back_and_gather(place, "buffer", d_received);
    order_backward(layer, place, d_buffer, program_.all(d_tokens));
    gate_backward(layer, place, program_.all(d_tokens), true);
  }

 private:
  // N_MP runs of E blocks with T/N_MP rows each: a member's share of every expert is one run.
  BufferShape shape(int tokens) {
    BufferShape shape;
    shape.rows = (program_.buffer_rows(tokens, mp()) + mp() - 1) / mp();
    for (int run = 0; run < mp(); ++run) {
      for (int expert = 0; expert < program_.model().experts; ++expert) {
        shape.experts.push_back(expert);
      }
    }
    return shape;
  }

  int own_part_to_experts(const Place& place, int buffer) {
    int own = buffer;
    if (mp() > 1) {
      own = add_like(place, "own", buffer, program_.model().experts);
      slice(place, program_.groups().mp, program_.all(buffer), program_.all(own));
    }
    const int sent = replicate(place, "sent", own);
    return exchange(place, "received", task_kind::kDispatch, program_.groups().ep_esp, sent);
  }

  // The slot of blocks that lies `steps` members from the rank's own index in ep_esp, in each of
  // `runs` runs of the tensor.
  Region slot(int tensor, int steps, int runs) {
    const int local = program_.sizes().local_experts;
    Region region = program_.all(tensor);
    region.relative_to = program_.groups().ep_esp;
    region.first_block = steps * local;
    region.num_blocks = runs * local;
    return region;
  }

  // The overlapped AlltoAll and AllGather, then the sum over the esp shards in each mp member's
  // run.
  int back_and_gather(const Place& place, const std::string& tensor, int produced) {
    const int blocks = esp() * program_.model().experts;
    const int back = add_like(place, tensor + ".back", produced, blocks);
    const int gathered =
        mp() > 1 ? add_like(place, tensor + ".gathered", produced, mp() * blocks) : back;
    const Collective gather{CollectiveOperation::kAllGather, program_.groups().mp};
    Collective shift{CollectiveOperation::kShift, program_.groups().ep_esp};
    shift.wrap = true;
    for (int step = 0; step < program_.group_size(program_.groups().ep_esp); ++step) {
      const Place at{place.pass, place.layer, step};
      const Region arrived = slot(back, -step, 1);
      shift.distance = step;
      program_.add_task(task_kind::kCombine,
                        streams_.inter,
                        at,
                        move_task(shift, slot(produced, step, 1), arrived));
      if (mp() > 1) {
        program_.add_task(task_kind::kMpAllGather,
                          streams_.intra,
                          at,
                          move_task(gather, arrived, slot(gathered, -step, mp())));
      }
    }
    return sum_shards(place, tensor, gathered);
  }

  int sum_shards(const Place& place, const std::string& tensor, int gathered) {
    if (esp() == 1) {
      return gathered;
    }
    const int experts = program_.model().experts;
    const int sum = add_like(place, tensor, gathered, mp() * experts);
    for (int run = 0; run < mp(); ++run) {
      Region from = program_.all(gathered);
      from.first_block = run * esp() * experts;
      from.num_blocks = esp() * experts;
      Region to = program_.all(sum);
      to.first_block = run * experts;
      to.num_blocks = experts;
      sum_copies({place.pass, place.layer, run}, from, to);
    }
    return sum;
  }
};

}  // namespace

Program build_parm_s2(const RoutedScenario& scenario) {
  return ParmS2(scenario).build();
}

}  // namespace moesim
