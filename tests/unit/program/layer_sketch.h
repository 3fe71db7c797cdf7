#pragma once

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/unit/program/example_programs.h"

namespace moesim::testing {

inline constexpr int kExperts = 2;
inline constexpr int kMembers = 2;  // of mp, esp and ep
inline constexpr const char* kCompute = "compute";
inline constexpr const char* kInter = "inter";
inline constexpr const char* kIntra = "intra";

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

}  // namespace moesim::testing
