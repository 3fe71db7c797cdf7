#include <string>
#include <utility>

#include <fmt/core.h>

#include "tests/support/hand_program.h"

namespace moesim::test {
namespace {

constexpr int kCompute = 0;
constexpr int kIntra = 1;
constexpr int kInter = 2;
constexpr int kDegree = 2;

class Layers {
 public:
  HandProgram take() && { return std::move(hand_); }

  void add_layer(int layer, Pass pass) {
    layer_ = layer;
    pass_ = pass;
    const std::int64_t work = pass == Pass::kForward ? 1 : 2;
    const int attention = add("attention", kCompute, Attention{}, 4'000'000 * work, {last_});
    if (pass == Pass::kBackward) {
      add("gradient", kInter, collective(CollectiveOperation::kAllReduce, ep_), 3'000'000, {last_});
    }
    const int gate = add("gate", kCompute, Gate{}, 500'000 * work, {attention});
    std::vector<int> gathers;
    for (chunk_ = 0; chunk_ < kDegree; ++chunk_) {
      const int dispatch = add(
          "dispatch", kInter, collective(CollectiveOperation::kAllToAll, ep_), 3'000'000, {gate});
      gathers.push_back(add("esp_all_gather",
                            kIntra,
                            collective(CollectiveOperation::kAllGather, esp_),
                            2'000'000,
                            {dispatch}));
    }
    std::vector<int> scatters;
    for (chunk_ = 0; chunk_ < kDegree; ++chunk_) {
      const int expert = add("expert", kCompute, Expert{}, 5'000'000 * work, {gathers[chunk_]});
      scatters.push_back(add("esp_reduce_scatter",
                             kIntra,
                             collective(CollectiveOperation::kReduceScatter, esp_),
                             2'000'000,
                             {expert}));
    }
    std::vector<int> combines;
    for (chunk_ = 0; chunk_ < kDegree; ++chunk_) {
      combines.push_back(add("combine",
                             kInter,
                             collective(CollectiveOperation::kAllToAll, ep_),
                             3'000'000,
                             {scatters[chunk_]}));
    }
    chunk_ = kNone;
    last_ = add("unorder", kCompute, Unorder{}, 250'000 * work, combines);
  }

 private:
  static Collective collective(CollectiveOperation operation, int group) {
    Collective collective;
    collective.operation = operation;
    collective.group = group;
    collective.bytes = 1 << 20;
    return collective;
  }

  int add(const std::string& kind,
          int stream,
          const Descriptor& descriptor,
          std::int64_t picoseconds,
          const std::vector<int>& waits) {
    Task task;
    task.name = fmt::format("layer{}.{}.{}", layer_, pass_ == Pass::kForward ? "f" : "b", kind);
    if (chunk_ != kNone) {
      task.name += fmt::format(".{}", chunk_);
    }
    task.kind = kind;
    task.stream = stream;
    task.pass = pass_;
    task.layer = layer_;
    task.chunk = chunk_;
    for (const int wait : waits) {
      if (wait != kNone) {
        task.waits.push_back(wait);
      }
    }
    task.descriptor = descriptor;
    return hand_.add(std::move(task), ps(picoseconds));
  }

  HandProgram hand_{4, {"compute", "intra", "inter"}};
  int esp_ = hand_.add_group("esp", {{0, 1}, {2, 3}});
  int ep_ = hand_.add_group("ep", {{0, 2}, {1, 3}});
  int layer_ = 0;
  Pass pass_ = Pass::kForward;
  int chunk_ = kNone;
  int last_ = kNone;
};

}  // namespace

HandProgram two_layer_program() {
  Layers layers;
  layers.add_layer(0, Pass::kForward);
  layers.add_layer(1, Pass::kForward);
  layers.add_layer(1, Pass::kBackward);
  layers.add_layer(0, Pass::kBackward);
  return std::move(layers).take();
}

}  // namespace moesim::test
