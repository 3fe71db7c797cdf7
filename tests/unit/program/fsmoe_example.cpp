#include <utility>

#include "tests/unit/program/layer_sketch.h"

namespace moesim::testing {
namespace {

// The order of FSMoE's three loops, forward and backward.
class FsmoeLayer : private LayerSketch {
 public:
  FsmoeLayer(ProgramBuilder& builder,
             const AppendixGroups& groups,
             const ExampleSizes& sizes,
             int layer)
      : LayerSketch(builder, groups, sizes, layer) {
    const int shard = sizes.hidden / kMembers;
    w_gate_ = input("w_gate", sizes.embedding, kExperts);
    w1_ = input("w1", shard, sizes.embedding);
    w2_ = input("w2", shard, sizes.embedding);
  }

  int forward(int a_part) {
    pass_ = Pass::kForward;
    a_ = tensor("a", 1, slice(), sizes_.embedding);
    collective("mp_rs", CollectiveOperation::kReduceScatter, groups_.mp, all(a_part), all(a_));
    probs_ = tensor("probs", 1, slice(), kExperts);
    index_ = index_tensor(kExperts);
    weight_ = tensor("weight", kExperts, sizes_.rows_per_expert, 1);
    add("gate",
        kCompute,
        gate({0, 1}),
        {all(a_), all(w_gate_)},
        {all(probs_), all(index_), all(weight_)});
    const int disp = buffer("disp", kExperts);
    add("order", kCompute, Order{{0, 1}}, {all(a_), all(index_)}, {all(disp)});
    gath_ = buffer("gath", 4);
    hid_ = tensor("hid", 4, sizes_.rows_per_expert, sizes_.hidden / kMembers);
    comb_ = buffer("comb", kExperts);
    const int degree = sizes_.forward_degree;
    const Names names{"recv", "eout", "red"};
    loops(names, degree, disp, gath_, comb_, [&](int eout) {
      add("expert",
          kCompute,
          Expert{{0, 0, 0, 0}, false},
          {chunk(gath_, degree), all(w1_), all(w2_)},
          {chunk(eout, degree), chunk(hid_, degree)});
    });
    const int y = tensor("y", 1, slice(), sizes_.embedding);
    add("unorder", kCompute, Unorder{{0, 1}}, {all(comb_), all(index_), all(weight_)}, {all(y)});
    const int out = tensor("out", 1, sizes_.tokens, sizes_.embedding);
    collective("mp_ag", CollectiveOperation::kAllGather, groups_.mp, all(y), all(out));
    return out;
  }

  int backward(int d_out) {
    pass_ = Pass::kBackward;
    const int dy = tensor("dy", 1, slice(), sizes_.embedding);
    collective("mp_rs", CollectiveOperation::kReduceScatter, groups_.mp, all(d_out), all(dy));
    const int d_comb = buffer("d_comb", kExperts);
    const int d_weight = tensor("d_weight", kExperts, sizes_.rows_per_expert, 1);
    add("unorder",
        kCompute,
        Unorder{{0, 1}},
        {all(dy), all(comb_), all(index_), all(weight_)},
        {all(d_comb), all(d_weight)});
    const int d_eout = buffer("d_eout", 4);
    const int d_disp = buffer("d_disp", kExperts);
    const int dw1 = tensor("dw1", 1, sizes_.hidden / kMembers, sizes_.embedding);
    const int dw2 = tensor("dw2", 1, sizes_.hidden / kMembers, sizes_.embedding);
    const Names names{"d_recv", "d_gath", "d_red"};
    loops(names, sizes_.backward_degree, d_comb, d_eout, d_disp, [&](int d_gath) {
      expert_backward(d_eout, d_gath, {all(dw1), all(dw2)});
    });
    const int da = tensor("da", 1, slice(), sizes_.embedding);
    add("order", kCompute, Order{{0, 1}}, {all(d_disp), all(index_)}, {all(da)});
    const int dw_gate = tensor("dw_gate", 1, sizes_.embedding, kExperts);
    add("gate",
        kCompute,
        gate({0, 1}),
        {all(d_weight), all(probs_), all(index_), all(a_), all(w_gate_), all(da)},
        {all(da), all(dw_gate)});
    const int d_a_part = tensor("d_a_part", 1, sizes_.tokens, sizes_.embedding);
    collective("mp_ag", CollectiveOperation::kAllGather, groups_.mp, all(da), all(d_a_part));
    return d_a_part;
  }

 private:
  struct Names {
    const char* received;
    const char* made;
    const char* reduced;
  };

  int slice() const { return sizes_.tokens / kMembers; }

  // sent -> received -> gathered -> (expert) made -> reduced -> combined, by chunks.
  template <typename AddExpert>
  void loops(const Names& names,
             int degree,
             int sent,
             int gathered,
             int combined,
             const AddExpert& add_expert) {
    const int received = buffer(names.received, kExperts);
    const int made = buffer(names.made, 4);
    const int reduced = buffer(names.reduced, kExperts);
    const auto step = [&](const char* name, CollectiveOperation operation, int from, int to) {
      const bool exchange = operation == CollectiveOperation::kAllToAll;
      collective(name,
                 operation,
                 exchange ? groups_.ep : groups_.esp,
                 chunk(from, degree),
                 chunk(to, degree));
    };
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      step("dispatch", CollectiveOperation::kAllToAll, sent, received);
      step("gather", CollectiveOperation::kAllGather, received, gathered);
    }
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      add_expert(made);
      step("scatter", CollectiveOperation::kReduceScatter, made, reduced);
    }
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      step("combine", CollectiveOperation::kAllToAll, reduced, combined);
    }
    chunk_ = kNone;
  }

  // The first chunk writes the weights' gradients, later ones add to them.
  void expert_backward(int d_eout, int d_gath, const std::vector<Region>& gradients) {
    const int degree = sizes_.backward_degree;
    std::vector<Region> reads = {
        chunk(d_eout, degree), chunk(gath_, degree), chunk(hid_, degree), all(w1_), all(w2_)};
    if (chunk_ > 0) {
      reads.insert(reads.end(), gradients.begin(), gradients.end());
    }
    std::vector<Region> writes = {chunk(d_gath, degree)};
    writes.insert(writes.end(), gradients.begin(), gradients.end());
    add("expert", kCompute, Expert{{0, 0, 0, 0}, false}, std::move(reads), std::move(writes));
  }

  int w_gate_ = kNone;
  int w1_ = kNone;
  int w2_ = kNone;
  int a_ = kNone;
  int probs_ = kNone;
  int index_ = kNone;
  int weight_ = kNone;
  int gath_ = kNone;
  int hid_ = kNone;
  int comb_ = kNone;
};

}  // namespace

Program fsmoe_program(const ExampleSizes& sizes) {
  ProgramBuilder builder("fsmoe", 4);
  const AppendixGroups groups = add_appendix_groups(builder);
  const auto input = [&](const char* name) {
    return builder.add_tensor(
        {name, 1, sizes.tokens, sizes.embedding, DataType::kFp32, true, 1, {}});
  };
  std::vector<FsmoeLayer> layers;
  int rows = input("a_part");
  for (int layer = 0; layer < sizes.layers; ++layer) {
    layers.emplace_back(builder, groups, sizes, layer);
    rows = layers.back().forward(rows);
  }
  if (sizes.backward) {
    rows = input("d_out");
    for (int layer = sizes.layers - 1; layer >= 0; --layer) {
      rows = layers[layer].backward(rows);
    }
  }
  return std::move(builder).build();
}

}  // namespace moesim::testing
