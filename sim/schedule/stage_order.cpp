#include "sim/schedule/stage_order.h"

#include <algorithm>

#include "sim/base/check.h"

namespace moesim {
namespace {

// How many micro-batches a stage has been through.
struct Progress {
  std::vector<StagePass> passes;
  std::size_t next = 0;
  int forward = 0;
  int backward = 0;

  bool is_done() const { return next == passes.size(); }

  StagePass take() {
    const StagePass pass = passes[next++];
    ++(pass.pass == Pass::kForward ? forward : backward);
    return pass;
  }
};

// Whether the neighbour has made what the stage's next pass begins with.
bool is_ready(const std::vector<Progress>& stages, const StagePass& next) {
  const auto stage = static_cast<std::size_t>(next.part.stage);
  if (next.pass == Pass::kForward) {
    return stage == 0 || stages[stage - 1].forward > next.part.micro_batch;
  }
  return stage + 1 == stages.size() || stages[stage + 1].backward > next.part.micro_batch;
}

}  // namespace

std::vector<StagePass> passes_of_stage(int stage, int num_stages, const PipelineConfig& pipeline) {
  const int count = pipeline.micro_batches;
  const int ahead =
      pipeline.order == StageOrder::kGpipe ? count : std::min(count, num_stages - stage);
  std::vector<StagePass> passes;
  for (int forward = 0; forward < ahead; ++forward) {
    passes.push_back({{stage, forward}, Pass::kForward});
  }
  for (int backward = 0; backward < count; ++backward) {
    passes.push_back({{stage, backward}, Pass::kBackward});
    if (ahead + backward < count) {
      passes.push_back({{stage, ahead + backward}, Pass::kForward});
    }
  }
  return passes;
}

std::vector<StagePass> launch_order(int num_stages, const PipelineConfig& pipeline) {
  CHECK(num_stages > 0 && pipeline.micro_batches > 0);
  std::vector<Progress> stages(static_cast<std::size_t>(num_stages));
  for (int stage = 0; stage < num_stages; ++stage) {
    stages[static_cast<std::size_t>(stage)].passes = passes_of_stage(stage, num_stages, pipeline);
  }
  std::vector<StagePass> order;
  const std::size_t total = stages.size() * stages.front().passes.size();
  while (order.size() < total) {
    const std::size_t before = order.size();
    for (Progress& stage : stages) {
      if (!stage.is_done() && is_ready(stages, stage.passes[stage.next])) {
        order.push_back(stage.take());
      }
    }
    CHECK(order.size() > before, "no stage can go on");
  }
  return order;
}

}  // namespace moesim
