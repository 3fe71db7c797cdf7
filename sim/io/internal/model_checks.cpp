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

void check_divides(const Fields& fields, Named whole, Named part) {
  if (whole.value % part.value != 0) {
    throw fields.error(whole.name,
                       fmt::format("{} = {} does not divide by {} = {}; change one of them",
                                   whole.name,
                                   whole.value,
                                   part.name,
                                   part.value));
  }
}

void check_divisions(const Fields& fields,
                     const ModelConfig& model,
                     const ParallelConfig& parallel) {
  const Named mp = {"mp", parallel.mp};
  check_divides(fields, {"embedding", model.embedding}, {"heads", model.heads});
  check_divides(fields, {"heads", model.heads}, mp);
  check_divides(fields, {"heads", model.heads}, {"kv_heads", model.kv_heads});
  check_divides(fields, {"kv_heads", model.kv_heads}, mp);
  check_divides(fields, {"experts", model.experts}, {"ep", parallel.ep});
  check_divides(fields, {"hidden", model.hidden}, {"esp", parallel.esp});
  if (model.tokens() % parallel.mp != 0) {
    throw fields.error("sequence",
                       fmt::format("batch * sequence = {} tokens do not divide by mp = {}; change "
                                   "one of them",
                                   model.tokens(),
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

void check_model(const Fields& root, const ModelConfig& model, const ParallelConfig& parallel) {
  const Fields fields = root.child("model");
  if (model.top_k > model.experts) {
    throw fields.error("top_k",
                       fmt::format("top_k = {} of {} experts; choose at most {}",
                                   model.top_k,
                                   model.experts,
                                   model.experts));
  }
  check_divisions(fields, model, parallel);
  check_sizes(fields, model, parallel);
}

}  // namespace moesim::io
