#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "sim/io/internal/limits.h"
#include "sim/io/internal/scenario_reader.h"

namespace moesim::io {
namespace {

// A number and what it counts: {"heads", 32}.
struct Named {
  const char* name;
  std::int64_t value;
};

// A division of the model among a group that does not work out. Where the group's size followed
// from the cluster, no field holds it: then the mistake is told where the sizes are given.
class Divisions {
 public:
  explicit Divisions(const Fields& root)
      : model_(root.child("model")), parallel_(root.child("parallel")) {}

  void check(Named whole, Named part) const {
    if (whole.value % part.value == 0) {
      return;
    }
    const std::string problem = fmt::format(
        "{} = {} does not divide by {} = {}", whole.name, whole.value, part.name, part.value);
    throw model_.error(whole.name, problem + "; change one of them");
  }

  void check_group(Named whole, Named group) const {
    if (whole.value % group.value != 0 && !parallel_.has(group.name) &&
        !model_.is_overridden(whole.name)) {
      throw parallel_.error(
          fmt::format("{0} = {1} does not divide by {2} = {3}, which is what the other sizes leave "
                      "of the cluster's GPUs; give {2} or change the sizes, the cluster or {0}",
                      whole.name,
                      whole.value,
                      group.name,
                      group.value));
    }
    check(whole, group);
  }

 private:
  Fields model_;
  Fields parallel_;
};

void check_divisions(const Fields& root, const Scenario& scenario) {
  const ModelConfig& model = scenario.model;
  const ParallelConfig& parallel = scenario.parallel;
  const Divisions divisions(root);
  divisions.check_group({"layers", model.layers}, {"pp", parallel.pp});
  divisions.check({"batch", model.batch}, {"micro_batches", scenario.pipeline.micro_batches});
  const Named mp = {"mp", parallel.mp};
  divisions.check({"embedding", model.embedding}, {"heads", model.heads});
  divisions.check_group({"heads", model.heads}, mp);
  divisions.check({"heads", model.heads}, {"kv_heads", model.kv_heads});
  divisions.check_group({"kv_heads", model.kv_heads}, mp);
  divisions.check_group({"experts", model.experts}, {"ep", parallel.ep});
  divisions.check_group({"hidden", model.hidden}, {"esp", parallel.esp});
  const int64_t tokens = scenario.stage_model().tokens();
  if (tokens % parallel.mp != 0) {
    const bool cut = scenario.pipeline.micro_batches > 1;
    throw root.child("model").error(
        "sequence",
        fmt::format("batch{} * sequence = {} tokens do not divide by mp = {}; change "
                    "one of them",
                    cut ? " / micro_batches" : "",
                    tokens,
                    parallel.mp));
  }
}

// What the builders count in 32 bits or keep in one buffer, as doubles, which do not overflow.
void check_sizes(const Fields& fields, const ModelConfig& model, const ParallelConfig& parallel) {
  const auto check = [&fields](double value, double limit, const char* what, const char* advice) {
    if (value > limit) {
      throw fields.error(
          fmt::format("{} {:.3g}, more than {:.3g}; reduce {}", what, value, limit, advice));
    }
  };
  const auto element = static_cast<double>(size_of(model.dtype));
  const double gathered = static_cast<double>(model.tokens()) * std::max(parallel.mp, parallel.esp);
  const double factor = model.top_k * model.capacity_factor.value_or(1);
  const double gemms = model.feed_forward == FeedForward::kSwiglu ? 3 : 2;
  const double kv_columns = 2.0 * model.head_size() * model.kv_heads;
  check(gathered, kMaxInt, "the tokens of a group are", "batch or sequence");
  check(factor * gathered,
        kMaxInt,
        "the rows of a dispatch buffer are",
        "batch, sequence, top_k or capacity_factor");
  // E * T * M of the gathered copies, the largest buffer of any schedule.
  check(factor * gathered * model.embedding * element,
        kMaxBytes,
        "the bytes of a dispatch buffer are",
        "batch, sequence, embedding, top_k or capacity_factor");
  check(
      gemms * model.embedding * model.hidden * element / parallel.esp * model.experts / parallel.ep,
      kMaxBytes,
      "the bytes of one layer's experts on a GPU are",
      "embedding, hidden or experts");
  check(model.layers * (2.0 * model.embedding + kv_columns) / parallel.mp,
        kMaxInt,
        "the rows of the dense gradient are",
        "layers or embedding");
}

}  // namespace

void check_model(const Fields& root, const Scenario& scenario) {
  const ModelConfig& model = scenario.model;
  const Fields fields = root.child("model");
  if (model.top_k > model.experts) {
    throw fields.error("top_k",
                       fmt::format("top_k = {} of {} experts; choose at most {}",
                                   model.top_k,
                                   model.experts,
                                   model.experts));
  }
  check_divisions(root, scenario);
  check_sizes(fields, scenario.stage_model(), scenario.parallel);
}

}  // namespace moesim::io
