#include "sim/io/internal/scenario_reader.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/io/internal/limits.h"
#include "sim/io/internal/names.h"
#include "sim/io/internal/token_table.h"
#include "sim/io/internal/variation_reader.h"

namespace moesim::io {
namespace {

constexpr IntegerRange kDimension = {1, 1 << 24};
constexpr IntegerRange kDegree = {1, kMaxGivenDegree};
constexpr double kMaxCapacityFactor = 1000;
constexpr double kMaxZipfExponent = 10;

// Empty for "*": no token is dropped.
std::optional<double> read_capacity_factor(const Fields& model) {
  const std::string text = model.text("capacity_factor");
  if (text == "*") {
    return std::nullopt;
  }
  double factor = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, factor);
  if (end != last || error != std::errc() || !(factor > 0 && factor <= kMaxCapacityFactor)) {
    throw model.error("capacity_factor",
                      fmt::format("{} is no capacity factor; write a number above 0 and up to "
                                  "{} such as \"1.2\", or \"*\" to drop no token",
                                  in_quotes(text),
                                  kMaxCapacityFactor));
  }
  return factor;
}

// OptimizerChoice has NONE before the native enumerators.
std::optional<OptimizerAlgorithm> read_optimizer(const Fields& model) {
  const int choice = model.choice_or<int>("optimizer", 0);
  if (choice == 0) {
    return std::nullopt;
  }
  return static_cast<OptimizerAlgorithm>(choice - 1);
}

ModelConfig read_model(const Fields& fields) {
  ModelConfig model;
  model.name = fields.text_or("name", "");
  model.layers = fields.integer("layers", {1, kMaxLayers});
  model.batch = fields.integer("batch", kDimension);
  model.sequence = fields.integer("sequence", kDimension);
  model.embedding = fields.integer("embedding", kDimension);
  model.hidden = fields.integer("hidden", kDimension);
  model.heads = fields.integer("heads", kDimension);
  model.kv_heads = fields.integer_or("kv_heads", model.heads, kDimension);
  model.experts = fields.integer("experts", {1, kMaxRanks});
  model.top_k = fields.integer("top_k", kAtLeastOne);
  model.capacity_factor = read_capacity_factor(fields);
  model.feed_forward = fields.choice_or("feed_forward", FeedForward::kSimple);
  model.attention = fields.choice_or("attention", AttentionMask::kFull);
  model.gate = fields.choice_or("gate", GateKind::kGshard);
  model.dtype = fields.choice_or("dtype", DataType::kFp32);
  model.recompute = fields.choice_or("recompute", Recompute::kNothing);
  model.optimizer = read_optimizer(fields);
  model.pad_capacity = fields.flag("pad_capacity");
  if (model.dtype == DataType::kInt32) {
    throw fields.error("dtype", "INT32 is no type to train in; write FP32, BF16 or FP8_E4M3");
  }
  return model;
}

// A row for each rank, a count for each expert. Rows say how choices spread; what they sum to is
// scaled to the choices that the model makes.
std::vector<std::vector<int>> read_given_tokens(const Fields& fields, const Scenario& scenario) {
  std::vector<std::vector<int>> tokens = read_token_table(fields);
  const std::size_t ranks = tokens.size();
  const std::size_t experts = tokens.front().size();
  if (static_cast<int>(ranks) != scenario.parallel.world() ||
      static_cast<int>(experts) != scenario.model.experts) {
    throw fields.error("tokens",
                       fmt::format("{} rows of {} counts for {} ranks and {} experts; write a row "
                                   "for each rank, a count for each expert",
                                   ranks,
                                   experts,
                                   scenario.parallel.world(),
                                   scenario.model.experts));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (std::count(tokens[rank].begin(), tokens[rank].end(), 0) == std::ssize(tokens[rank])) {
      throw fields.error("tokens",
                         static_cast<int>(rank),
                         fmt::format("the counts of rank {} are all 0; say how its choices spread "
                                     "over the experts",
                                     rank));
    }
  }
  return tokens;
}

RoutingConfig read_routing(const Fields& root, const Scenario& scenario) {
  RoutingConfig routing;
  const std::optional<Fields> fields = root.optional_child("routing");
  if (!fields) {
    return routing;
  }
  if (fields->has("zipf_exponent") && fields->has("tokens")) {
    throw fields->error("tokens", "both zipf_exponent and tokens; keep one of them");
  }
  if (fields->has("zipf_exponent")) {
    routing.kind = RoutingKind::kZipf;
    routing.zipf_exponent = fields->real_or("zipf_exponent", 0, {0, kMaxZipfExponent});
  } else if (fields->has("tokens")) {
    routing.kind = RoutingKind::kGiven;
    routing.tokens = read_given_tokens(*fields, scenario);
  }
  return routing;
}

// Degrees of the layers; `uniform` is the field that says one for all.
std::vector<int> read_per_layer(const Fields& fields,
                                const char* name,
                                const char* uniform,
                                int layers) {
  std::vector<int> degrees = fields.integers(name, kDegree);
  if (!degrees.empty() && fields.has(uniform)) {
    throw fields.error(name, fmt::format("both {} and {}; keep one of them", uniform, name));
  }
  if (!degrees.empty() && static_cast<int>(degrees.size()) != layers) {
    throw fields.error(
        name, fmt::format("{} degrees for {} layers; write one for each", degrees.size(), layers));
  }
  return degrees;
}

// The degrees of the passes, or, where one of them was set on the command line, that option.
std::string location_of_degrees(const Fields& degrees) {
  for (const char* name : {"forward", "backward", "forward_per_layer", "backward_per_layer"}) {
    if (degrees.has(name) && degrees.is_overridden(name)) {
      return degrees.error(name, "").location();
    }
  }
  return degrees.error("").location();
}

DegreeConfig read_degrees(const Fields& root, int layers) {
  const std::optional<Fields> fields = root.optional_child("degrees");
  DegreeConfig degrees;
  degrees.location = root.document().path();
  if (!fields) {
    return degrees;
  }
  return {.location = location_of_degrees(*fields),
          .forward = fields->optional_integer("forward", kDegree),
          .backward = fields->optional_integer("backward", kDegree),
          .non_moe = fields->optional_integer("non_moe", kDegree),
          .forward_per_layer = read_per_layer(*fields, "forward_per_layer", "forward", layers),
          .backward_per_layer = read_per_layer(*fields, "backward_per_layer", "backward", layers)};
}

PipelineConfig read_pipeline(const Fields& root) {
  PipelineConfig pipeline;
  if (const std::optional<Fields> fields = root.optional_child("pipeline")) {
    pipeline.micro_batches = fields->integer_or("micro_batches", 1, {1, kMaxMicroBatches});
    pipeline.order = fields->choice_or("schedule", pipeline.order);
  }
  return pipeline;
}

}  // namespace

Scenario read_scenario(const Fields& root,
                       const Cluster& cluster,
                       const std::vector<std::string>& known_schedules) {
  Scenario scenario;
  scenario.path = root.document().path();
  scenario.name = root.text_or("name", root.document().stem());
  scenario.description = root.text_or("description", "");
  scenario.model = read_model(root.child("model"));
  scenario.parallel = read_parallel(root, cluster);
  scenario.pipeline = read_pipeline(root);
  check_model(root, scenario);
  scenario.routing = read_routing(root, scenario);
  scenario.schedules = read_schedules(root, "schedules", known_schedules);
  if (root.has("baseline")) {
    scenario.baseline = read_schedule(root, "baseline", known_schedules);
  }
  scenario.degrees = read_degrees(root, scenario.model.layers);
  if (root.has("gradient_chunk")) {
    scenario.gradient_chunk_bytes = root.quantity("gradient_chunk", parse_bytes);
    if (scenario.gradient_chunk_bytes == 0) {
      throw root.error("gradient_chunk", "a chunk of no bytes; write a size such as \"30 MB\"");
    }
  }
  scenario.seed = root.unsigned_or("seed", scenario.seed);
  scenario.variation = read_variation(root, cluster, scenario.seed);
  return scenario;
}

}  // namespace moesim::io
