#include "tests/unit/program/example_programs.h"

#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace moesim::testing {
namespace {

constexpr int kExperts = 2;
constexpr int kMembers = 2;  // of mp, esp and ep

Collective over(CollectiveOperation operation, int group) {
  Collective collective;
  collective.operation = operation;
  collective.group = group;
  return collective;
}

// The gate of the sizes, for the experts of the index's blocks.
Gate make_gate(ProgramBuilder& builder, const ExampleSizes& sizes, std::vector<int> experts) {
  Gate gate{GateKind::kGshard, 1, std::move(experts), kNone, false, 1};
  if (!sizes.routing.empty()) {
    gate.routing =
        builder.program().routings.empty() ? builder.add_routing({"routing", sizes.routing}) : 0;
    gate.no_drop = true;
  }
  return gate;
}

// One layer's tensors and tasks, in the order of FSMoE's three loops.
class FsmoeLayer {
 public:
  FsmoeLayer(ProgramBuilder& builder,
             const AppendixGroups& groups,
             const ExampleSizes& sizes,
             int layer)
      : builder_(builder), groups_(groups), sizes_(sizes), layer_(layer) {
    w_gate_ = tensor("w_gate", 1, sizes.embedding, kExperts, true);
    w1_ = tensor("w1", 1, sizes.hidden / kMembers, sizes.embedding, true);
    w2_ = tensor("w2", 1, sizes.hidden / kMembers, sizes.embedding, true);
  }

  int forward(int a_part) {
    const int slice = sizes_.tokens / kMembers;
    const int rows = sizes_.rows_per_expert;
    pass_ = Pass::kForward;
    a_ = tensor("a", 1, slice, sizes_.embedding);
    collective("mp_rs",
               "intra",
               over(CollectiveOperation::kReduceScatter, groups_.mp),
               all(a_part),
               all(a_));
    probs_ = tensor("probs", 1, slice, kExperts);
    index_ = tensor("index", kExperts, rows, 1, false, DataType::kInt32);
    weight_ = tensor("weight", kExperts, rows, 1);
    compute("gate",
            make_gate(builder_, sizes_, {0, 1}),
            {all(a_), all(w_gate_)},
            {all(probs_), all(index_), all(weight_)});
    const int disp = buffer("disp", kExperts);
    compute("order", Order{{0, 1}}, {all(a_), all(index_)}, {all(disp)});
    const int recv = buffer("recv", kExperts);
    gath_ = buffer("gath", 4);
    hid_ = tensor("hid", 4, rows, sizes_.hidden / kMembers);
    const int eout = buffer("eout", 4);
    const int red = buffer("red", kExperts);
    comb_ = buffer("comb", kExperts);
    const int degree = sizes_.forward_degree;
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      collective("dispatch",
                 "inter",
                 over(CollectiveOperation::kAllToAll, groups_.ep),
                 chunk(disp, degree),
                 chunk(recv, degree));
      collective("gather",
                 "intra",
                 over(CollectiveOperation::kAllGather, groups_.esp),
                 chunk(recv, degree),
                 chunk(gath_, degree));
    }
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      compute("expert",
              Expert{{0, 0, 0, 0}, false},
              {chunk(gath_, degree), all(w1_), all(w2_)},
              {chunk(eout, degree), chunk(hid_, degree)});
      collective("scatter",
                 "intra",
                 over(CollectiveOperation::kReduceScatter, groups_.esp),
                 chunk(eout, degree),
                 chunk(red, degree));
    }
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      collective("combine",
                 "inter",
                 over(CollectiveOperation::kAllToAll, groups_.ep),
                 chunk(red, degree),
                 chunk(comb_, degree));
    }
    chunk_ = kNone;
    const int y = tensor("y", 1, slice, sizes_.embedding);
    compute("unorder", Unorder{{0, 1}}, {all(comb_), all(index_), all(weight_)}, {all(y)});
    const int out = tensor("out", 1, sizes_.tokens, sizes_.embedding);
    collective(
        "mp_ag", "intra", over(CollectiveOperation::kAllGather, groups_.mp), all(y), all(out));
    return out;
  }

  int backward(int d_out) {
    const int slice = sizes_.tokens / kMembers;
    pass_ = Pass::kBackward;
    const int dy = tensor("dy", 1, slice, sizes_.embedding);
    collective("mp_rs",
               "intra",
               over(CollectiveOperation::kReduceScatter, groups_.mp),
               all(d_out),
               all(dy));
    const int d_comb = buffer("d_comb", kExperts);
    const int d_weight = tensor("d_weight", kExperts, sizes_.rows_per_expert, 1);
    compute("unorder",
            Unorder{{0, 1}},
            {all(dy), all(comb_), all(index_), all(weight_)},
            {all(d_comb), all(d_weight)});
    const int d_recv = buffer("d_recv", kExperts);
    const int d_eout = buffer("d_eout", 4);
    const int d_gath = buffer("d_gath", 4);
    const int d_red = buffer("d_red", kExperts);
    const int d_disp = buffer("d_disp", kExperts);
    const int dw1 = tensor("dw1", 1, sizes_.hidden / kMembers, sizes_.embedding);
    const int dw2 = tensor("dw2", 1, sizes_.hidden / kMembers, sizes_.embedding);
    const int degree = sizes_.backward_degree;
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      collective("dispatch",
                 "inter",
                 over(CollectiveOperation::kAllToAll, groups_.ep),
                 chunk(d_comb, degree),
                 chunk(d_recv, degree));
      collective("gather",
                 "intra",
                 over(CollectiveOperation::kAllGather, groups_.esp),
                 chunk(d_recv, degree),
                 chunk(d_eout, degree));
    }
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      std::vector<Region> reads = {
          chunk(d_eout, degree), chunk(gath_, degree), chunk(hid_, degree), all(w1_), all(w2_)};
      if (chunk_ > 0) {
        reads.push_back(all(dw1));
        reads.push_back(all(dw2));
      }
      compute("expert",
              Expert{{0, 0, 0, 0}, false},
              std::move(reads),
              {chunk(d_gath, degree), all(dw1), all(dw2)});
      collective("scatter",
                 "intra",
                 over(CollectiveOperation::kReduceScatter, groups_.esp),
                 chunk(d_gath, degree),
                 chunk(d_red, degree));
    }
    for (chunk_ = 0; chunk_ < degree; ++chunk_) {
      collective("combine",
                 "inter",
                 over(CollectiveOperation::kAllToAll, groups_.ep),
                 chunk(d_red, degree),
                 chunk(d_disp, degree));
    }
    chunk_ = kNone;
    const int da = tensor("da", 1, slice, sizes_.embedding);
    compute("order", Order{{0, 1}}, {all(d_disp), all(index_)}, {all(da)});
    const int dw_gate = tensor("dw_gate", 1, sizes_.embedding, kExperts);
    compute("gate",
            make_gate(builder_, sizes_, {0, 1}),
            {all(d_weight), all(probs_), all(index_), all(a_), all(w_gate_), all(da)},
            {all(da), all(dw_gate)});
    const int d_a_part = tensor("d_a_part", 1, sizes_.tokens, sizes_.embedding);
    collective("mp_ag",
               "intra",
               over(CollectiveOperation::kAllGather, groups_.mp),
               all(da),
               all(d_a_part));
    return d_a_part;
  }

 private:
  int tensor(const char* name,
             int blocks,
             int rows,
             int columns,
             bool input = false,
             DataType dtype = DataType::kFp32) {
    return builder_.add_tensor(
        {fmt::format("l{}.{}", layer_, name), blocks, rows, columns, dtype, input, 0, {}});
  }
  int buffer(const char* name, int blocks) {
    return tensor(name, blocks, sizes_.rows_per_expert, sizes_.embedding);
  }
  Region all(int tensor) const { return builder_.all(tensor); }
  Region chunk(int tensor, int degree) const {
    const int begin = sizes_.rows_per_expert * chunk_ / degree;
    const int end = sizes_.rows_per_expert * (chunk_ + 1) / degree;
    return builder_.rows(tensor, begin, end - begin);
  }
  void collective(const char* name,
                  const char* stream,
                  const Collective& what,
                  const Region& from,
                  const Region& to) {
    add(name, stream, what, {from}, {to});
  }
  void compute(const char* name,
               Descriptor what,
               std::vector<Region> reads,
               std::vector<Region> writes) {
    add(name, "compute", std::move(what), std::move(reads), std::move(writes));
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

  ProgramBuilder& builder_;
  AppendixGroups groups_;
  ExampleSizes sizes_;
  int layer_;
  Pass pass_ = Pass::kForward;
  int chunk_ = kNone;
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
  std::vector<FsmoeLayer> layers;
  int rows = builder.add_tensor(
      {"a_part", 1, sizes.tokens, sizes.embedding, DataType::kFp32, true, 1, {}});
  for (int layer = 0; layer < sizes.layers; ++layer) {
    layers.emplace_back(builder, groups, sizes, layer);
    rows = layers.back().forward(rows);
  }
  if (sizes.backward) {
    rows = builder.add_tensor(
        {"d_out", 1, sizes.tokens, sizes.embedding, DataType::kFp32, true, 2, {}});
    for (int layer = sizes.layers - 1; layer >= 0; --layer) {
      rows = layers[layer].backward(rows);
    }
  }
  return std::move(builder).build();
}

Program parm_s2_program(const ExampleSizes& sizes) {
  ProgramBuilder builder("parm_s2", 4);
  const AppendixGroups groups = add_appendix_groups(builder);
  const int compute = builder.stream("compute");
  const int inter = builder.stream("inter");
  const int intra = builder.stream("intra");
  const int half = sizes.rows_per_expert;
  const int m = sizes.embedding;
  const auto tensor = [&](const char* name, int blocks, int rows, int columns) {
    return builder.add_tensor({name, blocks, rows, columns, DataType::kFp32, false, 0, {}});
  };
  const auto input = [&](const char* name, int rows, int columns) {
    return builder.add_tensor({name, 1, rows, columns, DataType::kFp32, true, 1, {}});
  };
  const auto add = [&](std::string name,
                       int stream,
                       Descriptor what,
                       std::vector<Region> reads,
                       std::vector<Region> writes) {
    Task task;
    task.name = std::move(name);
    task.stream = stream;
    task.descriptor = std::move(what);
    task.reads = std::move(reads);
    task.writes = std::move(writes);
    builder.add_task(std::move(task));
  };
  const auto all = [&](int index) { return builder.all(index); };

  const int x = input("x", sizes.tokens, m);
  const int w_gate = input("w_gate", m, kExperts);
  const int w1 = input("w1", sizes.hidden / kMembers, m);
  const int w2 = input("w2", sizes.hidden / kMembers, m);
  const int probs = tensor("probs", 1, sizes.tokens, kExperts);
  const int index = builder.add_tensor({"index", 4, half, 1, DataType::kInt32, false, 0, {}});
  const int weight = tensor("weight", 4, half, 1);
  const std::vector<int> experts = {0, 1, 0, 1};
  add("gate",
      compute,
      make_gate(builder, sizes, experts),
      {all(x), all(w_gate)},
      {all(probs), all(index), all(weight)});
  const int buf = tensor("buf", 4, half, m);
  add("order", compute, Order{experts}, {all(x), all(index)}, {all(buf)});
  const int part = tensor("part", 2, half, m);
  add("slice", compute, Slice{groups.mp}, {all(buf)}, {all(part)});
  const int copies = tensor("copies", 4, half, m);
  add("replicate", compute, Replicate{groups.ep, 2}, {all(part)}, {all(copies)});
  const int rc = tensor("rc", 4, half, m);
  add("dispatch",
      inter,
      over(CollectiveOperation::kAllToAll, groups.ep_esp),
      {all(copies)},
      {all(rc)});
  const int eo = tensor("eo", 4, half, m);
  const int hid = tensor("hid", 4, half, sizes.hidden / kMembers);
  add("expert",
      compute,
      Expert{{0, 0, 0, 0}, false},
      {all(rc), all(w1), all(w2)},
      {all(eo), all(hid)});
  const int back = tensor("back", 4, half, m);
  const int ga = tensor("ga", 8, half, m);
  for (int i = 0; i < 4; ++i) {
    Collective shift = over(CollectiveOperation::kShift, groups.ep_esp);
    shift.distance = i;
    shift.wrap = true;
    const Region received = {back, -i, 1, 0, half, groups.ep_esp};
    add(fmt::format("shift.{}", i), inter, shift, {{eo, i, 1, 0, half, groups.ep_esp}}, {received});
    add(fmt::format("mp_ag.{}", i),
        intra,
        over(CollectiveOperation::kAllGather, groups.mp),
        {received},
        {{ga, -i, 2, 0, half, groups.ep_esp}});
  }
  const int full = tensor("full", 4, half, m);
  add("local_sum", compute, LocalSum{groups.ep_esp, 2}, {all(ga)}, {all(full)});
  const int out = tensor("out", 1, sizes.tokens, m);
  add("unorder", compute, Unorder{experts}, {all(full), all(index), all(weight)}, {all(out)});
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
