#include <array>
#include <span>
#include <string>

#include <fmt/core.h>

#include "sim/io/internal/limits.h"
#include "sim/io/internal/scenario_reader.h"

namespace moesim::io {
namespace {

// A group size: its field, and where its value goes.
struct Factor {
  const char* name;
  int* value;
};

// The ranks that a product of group sizes makes up: all of the cluster's, or those of a stage.
struct Ranks {
  const Cluster& cluster;
  int stages;

  std::int64_t count() const { return cluster.num_gpus() / stages; }
  const char* name() const { return stages == 1 ? "GPUs" : "GPUs a stage"; }
};

// "mp * dp" of all factors.
std::string product_text(std::span<const Factor> factors) {
  std::string text;
  for (const Factor& factor : factors) {
    text += (text.empty() ? "" : " * ") + std::string(factor.name);
  }
  return text;
}

// Reads the factors of the ranks; the one that may be absent is what is left.
void read_factors(const Fields& parallel, std::span<const Factor> factors, const Ranks& ranks) {
  const std::int64_t world = ranks.count();
  std::int64_t product = 1;
  const Factor* absent = nullptr;
  for (const Factor& factor : factors) {
    if (parallel.has(factor.name)) {
      *factor.value = parallel.integer(factor.name, kRankCount);
      product *= *factor.value;
    } else if (absent == nullptr) {
      absent = &factor;
    } else {
      throw parallel.error(
          factor.name,
          fmt::format("both {} and {} are absent; give one of them, the other follows from {} = {} "
                      "{}",
                      absent->name,
                      factor.name,
                      product_text(factors),
                      world,
                      ranks.name()));
    }
    // Each is at most 2^20: the product stays far from overflow when it is checked at once.
    if (product > world || world % product != 0) {
      throw parallel.error(factor.name,
                           fmt::format("{} ranks of {} do not divide the {} {} of cluster "
                                       "\"{}\"; change {} or the cluster",
                                       product,
                                       product_text(factors),
                                       world,
                                       ranks.name(),
                                       ranks.cluster.name,
                                       factor.name));
    }
  }
  if (absent != nullptr) {
    *absent->value = static_cast<int>(world / product);
  } else if (product != world) {
    throw parallel.error(factors.back().name,
                         fmt::format("{} is {}, but cluster \"{}\" has {} {}; change one of them "
                                     "or leave one out",
                                     product_text(factors),
                                     product,
                                     ranks.cluster.name,
                                     world,
                                     ranks.name()));
  }
}

int read_stages(const Fields& parallel, const Cluster& cluster) {
  const int stages = parallel.integer_or("pp", 1, kRankCount);
  if (cluster.num_gpus() % stages != 0) {
    throw parallel.error(
        "pp",
        fmt::format("{} stages do not divide the {} GPUs of cluster \"{}\"; change "
                    "pp or the cluster",
                    stages,
                    cluster.num_gpus(),
                    cluster.name));
  }
  return stages;
}

}  // namespace

ParallelConfig read_parallel(const Fields& root, const Cluster& cluster) {
  const Fields fields = root.child("parallel");
  ParallelConfig parallel;
  parallel.pp = read_stages(fields, cluster);
  const Ranks ranks{cluster, parallel.pp};
  read_factors(fields, std::array<Factor, 2>{{{"mp", &parallel.mp}, {"dp", &parallel.dp}}}, ranks);
  read_factors(
      fields,
      std::array<Factor, 3>{{{"esp", &parallel.esp}, {"ep", &parallel.ep}, {"edp", &parallel.edp}}},
      ranks);
  return parallel;
}

}  // namespace moesim::io
