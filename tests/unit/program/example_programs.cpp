#include "tests/unit/program/example_programs.h"

#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace moesim::testing {
namespace {

constexpr int kExperts = 2;
constexpr int kMembers = 2;  // of mp, esp and ep
constexpr const char* kCompute = "compute";
constexpr const char* kInter = "inter";
constexpr const char* kIntra = "intra";

// Short ways to the tensors and tasks of one layer.
class LayerSketch {
 protected:
  LayerSketch(ProgramBuilder& builder,
              const AppendixGroups& groups,
              const ExampleSizes& sizes,
              int layer)
      : builder_(builder), groups_(groups), sizes_(sizes), layer_(layer) {}

  int tensor(const char* name, int blocks, int rows, int columns) {
    return builder_.add_tensor({fmt::format("l{}.{}", layer_, name),
                                blocks,
                                rows,
                                columns,
                                DataType::kFp32,
                                false,
                                0,
                                {}});
  }
  int input(const char* name, int rows, int columns) {
    return builder_.add_tensor(
        {fmt::format("l{}.{}", layer_, name), 1, rows, columns, DataType::kFp32, true, 1, {}});
  }
  int index_tensor(int blocks) {
    return builder_.add_tensor({fmt::format("l{}.index", layer_),
                                blocks,
                                sizes_.rows_per_expert,
                                1,
                                DataType::kInt32,
                                false,
                                0,
                                {}});
  }
  int buffer(const char* name, int blocks) {
    return tensor(name, blocks, sizes_.rows_per_expert, sizes_.embedding);
  }

  Region all(int tensor) const { return builder_.all(tensor); }
  // The rows of the current chunk, of `degree`.
  Region chunk(int tensor, int degree) const {
    const int begin = sizes_.rows_per_expert * chunk_ / degree;
    const int end = sizes_.rows_per_expert * (chunk_ + 1) / degree;
    return builder_.rows(tensor, begin, end - begin);
  }

  // The gate of the sizes, for the experts of the index's blocks.
  Gate gate(std::vector<int> experts) {
    Gate gate{GateKind::kGshard, 1, std::move(experts), kNone, false, 1};
    if (!sizes_.routing.empty()) {
      gate.routing = builder_.program().routings.empty()
                         ? builder_.add_routing({"routing", sizes_.routing})
                         : 0;
      gate.no_drop = true;
    }
    return gate;
  }

  void add(const char* name,
           const char* stream,
           Descriptor what,
           std::vector<Region> reads,
           std::vector<Region> writes) {
    Task task;
    task.name = fmt::format("l{}.{}.{}", layer_, pass_ == Pass::kForward ? "f" : "b", name);
    if (chunk_ != kNone) {
      task.name += fmt::format(".{}", chunk_);
    }
    task.stream = builder_.stream(stream);
    task.pass = pass_;
    task.layer = layer_;
    task.chunk = chunk_;
    task.descriptor = std::move(what);
    task.reads = std::move(reads);
    task.writes = std::move(writes);
    builder_.add_task(std::move(task));
  }
  void collective(const char* name,
                  CollectiveOperation operation,
                  int group,
                  const Region& from,
                  const Region& to) {
    Collective what;
    what.operation = operation;
    what.group = group;
    add(name, group == groups_.ep ? kInter : kIntra, what, {from}, {to});
  }

  ProgramBuilder& builder_;
  AppendixGroups groups_;
  ExampleSizes sizes_;
  int layer_ = 0;
  Pass pass_ = Pass::kForward;
  int chunk_ = kNone;
};

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

AppendixGroups add_appendix_groups(ProgramBuilder& builder) {
  AppendixGroups groups;
  groups.mp = builder.add_group({"mp", {{0, 1}, {2, 3}}});
  groups.esp = builder.add_group({"esp", {{0, 1}, {2, 3}}});
  groups.ep = builder.add_group({"ep", {{0, 2}, {1, 3}}});
  groups.ep_esp = builder.add_group({"ep_esp", {{0, 1, 2, 3}}});
  return groups;
}

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

Program parm_s2_program(const ExampleSizes& sizes) {
  ProgramBuilder builder("parm_s2", 4);
  ParmS2Layer(builder, add_appendix_groups(builder), sizes).forward();
  return std::move(builder).build();
}

Task fixed_task(std::string name,
                int stream,
                std::vector<Region> reads,
                std::vector<Region> writes) {
  Task task;
  task.name = std::move(name);
  task.stream = stream;
  task.descriptor = Fixed{Time::from_picoseconds(1)};
  task.reads = std::move(reads);
  task.writes = std::move(writes);
  return task;
}

Task collective_task(std::string name,
                     int stream,
                     const Collective& collective,
                     std::vector<Region> reads,
                     std::vector<Region> writes) {
  Task task = fixed_task(std::move(name), stream, std::move(reads), std::move(writes));
  task.descriptor = collective;
  return task;
}

int task_named(const Program& program, const std::string& name) {
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    if (program.tasks[task].name == name) {
      return task;
    }
  }
  CHECK(false, "no task '{}'", name);
  return kNone;
}

}  // namespace moesim::testing
