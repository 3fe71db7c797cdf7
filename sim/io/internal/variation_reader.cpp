#include "sim/io/internal/variation_reader.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/io/part_selector.h"

namespace moesim::io {
namespace {

constexpr RealRange kSpeed = {1e-3, 1e3};
constexpr RealRange kDeviation = {0, 1};

// Also where several factors are multiplied.
void check_speed(const Fields& fields, double speed) {
  if (!(speed >= kSpeed.first && speed <= kSpeed.last)) {
    throw fields.error("factor",
                       fmt::format("together with the factors before it, this makes a speed of "
                                   "{:g}; write factors whose product is {} to {}",
                                   speed,
                                   kSpeed.first,
                                   kSpeed.last));
  }
}

PartSelector read_gpus(const Fields& fields, const Cluster& cluster) {
  const std::string text = fields.text("at");
  const std::optional<PartSelector> gpus = parse_part_selector(text);
  if (!gpus || gpus->kind != "gpu") {
    throw fields.error("at",
                       fmt::format("{} names no GPU; write \"node:3/gpu:1\", or * for any number",
                                   in_quotes(text)));
  }
  const auto is_there = [](const std::optional<int>& number, int count) {
    return !number || (*number >= 0 && *number < count);
  };
  if (!is_there(gpus->outer, cluster.num_nodes) || !is_there(gpus->index, cluster.gpus_per_node)) {
    throw fields.error("at",
                       fmt::format("no GPU {}; cluster {} has node:0 to node:{} with gpu:0 to "
                                   "gpu:{} each",
                                   in_quotes(text),
                                   in_quotes(cluster.name),
                                   cluster.num_nodes - 1,
                                   cluster.gpus_per_node - 1));
  }
  return *gpus;
}

void apply_speed(const Fields& fields, const Cluster& cluster, std::vector<double>& speeds) {
  const PartSelector gpus = read_gpus(fields, cluster);
  const double factor = fields.real("factor", kSpeed);
  const int first_node = gpus.outer.value_or(0);
  const int last_node = gpus.outer.value_or(cluster.num_nodes - 1);
  const int first_gpu = gpus.index.value_or(0);
  const int last_gpu = gpus.index.value_or(cluster.gpus_per_node - 1);
  speeds.resize(static_cast<std::size_t>(cluster.num_gpus()), 1);
  for (int node = first_node; node <= last_node; ++node) {
    for (int gpu = first_gpu; gpu <= last_gpu; ++gpu) {
      double& speed = speeds[static_cast<std::size_t>(node) * cluster.gpus_per_node + gpu];
      speed *= factor;
      check_speed(fields, speed);
    }
  }
}

}  // namespace

std::optional<Jitter> read_jitter(const Fields& fields, std::uint64_t seed) {
  const std::optional<Fields> found = fields.optional_child("jitter");
  if (!found) {
    return std::nullopt;
  }
  const Jitter jitter = {
      .relative_deviation = found->real("relative_deviation", kDeviation),
      .distribution = found->choice_or("distribution", JitterDistribution::kLogNormal),
      .seed = found->unsigned_or("seed", seed)};
  return jitter.relative_deviation > 0 ? std::optional<Jitter>(jitter) : std::nullopt;
}

std::vector<double> read_rank_speed(const Fields& root, int num_ranks) {
  std::vector<double> speeds = root.reals("rank_speed", kSpeed);
  const auto size = static_cast<int>(speeds.size());
  if (size != 0 && size != num_ranks) {
    throw root.error(
        "rank_speed",
        fmt::format("{} factors for {} ranks; write one for each rank", size, num_ranks));
  }
  return speeds;
}

VariationConfig read_variation(const Fields& root, const Cluster& cluster, std::uint64_t seed) {
  VariationConfig variation;
  const std::optional<Fields> fields = root.optional_child("variation");
  if (!fields) {
    return variation;
  }
  for (const Fields& speed : fields->children("speeds")) {
    apply_speed(speed, cluster, variation.rank_speed);
  }
  variation.jitter = read_jitter(*fields, seed);
  return variation;
}

}  // namespace moesim::io
