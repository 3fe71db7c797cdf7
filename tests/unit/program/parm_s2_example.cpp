#include <utility>

#include "tests/unit/program/layer_sketch.h"

namespace moesim::testing {
namespace {

class ParmS2Layer : private LayerSketch {
 public:
  ParmS2Layer(ProgramBuilder& builder, const AppendixGroups& groups, const ExampleSizes& sizes)
      : LayerSketch(builder, groups, sizes, 0),
        half_(sizes.rows_per_expert),
        index_(index_tensor(4)),
        weight_(tensor("weight", 4, half_, 1)) {}

  void forward() {
    const int eo = experts(dispatch());
    const int ga = combine(eo);
    const int full = buffer("full", 4);
    add("local_sum", kCompute, LocalSum{groups_.ep_esp, 2}, {all(ga)}, {all(full)});
    const int out = tensor("out", 1, sizes_.tokens, sizes_.embedding);
    add("unorder",
        kCompute,
        Unorder{kBlockExperts},
        {all(full), all(index_), all(weight_)},
        {all(out)});
  }

 private:
  inline static const std::vector<int> kBlockExperts = {0, 1, 0, 1};

  int dispatch() {
    const int x = input("x", sizes_.tokens, sizes_.embedding);
    const int w_gate = input("w_gate", sizes_.embedding, kExperts);
    const int probs = tensor("probs", 1, sizes_.tokens, kExperts);
    add("gate",
        kCompute,
        gate(kBlockExperts),
        {all(x), all(w_gate)},
        {all(probs), all(index_), all(weight_)});
    const int buf = buffer("buf", 4);
    add("order", kCompute, Order{kBlockExperts}, {all(x), all(index_)}, {all(buf)});
    const int part = buffer("part", 2);
    add("slice", kCompute, Slice{groups_.mp}, {all(buf)}, {all(part)});
    const int copies = buffer("copies", 4);
    add("replicate", kCompute, Replicate{groups_.ep, 2}, {all(part)}, {all(copies)});
    const int rc = buffer("rc", 4);
    Collective exchange;
    exchange.operation = CollectiveOperation::kAllToAll;
    exchange.group = groups_.ep_esp;
    add("dispatch", kInter, exchange, {all(copies)}, {all(rc)});
    return rc;
  }

  int experts(int rc) {
    const int shard = sizes_.hidden / kMembers;
    const int w1 = input("w1", shard, sizes_.embedding);
    const int w2 = input("w2", shard, sizes_.embedding);
    const int eo = buffer("eo", 4);
    const int hid = tensor("hid", 4, half_, shard);
    add("expert",
        kCompute,
        Expert{{0, 0, 0, 0}, false},
        {all(rc), all(w1), all(w2)},
        {all(eo), all(hid)});
    return eo;
  }

  // In step i, rank q sends its block for rank q+i and gathers over mp what rank q-i sent it.
  int combine(int eo) {
    const int back = buffer("back", 4);
    const int ga = buffer("ga", 8);
    for (chunk_ = 0; chunk_ < 4; ++chunk_) {
      Collective shift;
      shift.operation = CollectiveOperation::kShift;
      shift.group = groups_.ep_esp;
      shift.distance = chunk_;
      shift.wrap = true;
      const Region received = {back, -chunk_, 1, 0, half_, groups_.ep_esp};
      add("shift", kInter, shift, {{eo, chunk_, 1, 0, half_, groups_.ep_esp}}, {received});
      const Region gathered = {ga, -chunk_, 2, 0, half_, groups_.ep_esp};
      collective("mp_ag", CollectiveOperation::kAllGather, groups_.mp, received, gathered);
    }
    chunk_ = kNone;
    return ga;
  }

  int half_;
  int index_;
  int weight_;
};

}  // namespace

Program parm_s2_program(const ExampleSizes& sizes) {
  ProgramBuilder builder("parm_s2", 4);
  ParmS2Layer(builder, add_appendix_groups(builder), sizes).forward();
  return std::move(builder).build();
}

}  // namespace moesim::testing
