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

// "mp * dp" of all factors.
std::string product_text(std::span<const Factor> factors) {
  std::string text;
  for (const Factor& factor : factors) {
    text += (text.empty() ? "" : " * ") + std::string(factor.name);
  }
  return text;
}

// Reads the factors of the world; the one that may be absent is what is left.
void read_factors(const Fields& parallel, std::span<const Factor> factors, const Cluster& cluster) {
  const std::int64_t world = cluster.num_gpus();
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
                      "GPUs",
                      absent->name,
                      factor.name,
                      product_text(factors),
                      world));
    }
    // Each is at most 2^20: the product stays far from overflow when it is checked at once.
    if (product > world || world % product != 0) {
      throw parallel.error(factor.name,
                           fmt::format("{} ranks of {} do not divide the {} GPUs of cluster "
                                       "\"{}\"; change {} or the cluster",
                                       product,
                                       product_text(factors),
                                       world,
                                       cluster.name,
                                       factor.name));
    }
  }
  if (absent != nullptr) {
    *absent->value = static_cast<int>(world / product);
  } else if (product != world) {
    throw parallel.error(factors.back().name,
                         fmt::format("{} is {}, but cluster \"{}\" has {} GPUs; change one of them "
                                     "or leave one out",
                                     product_text(factors),
                                     product,
                                     cluster.name,
                                     world));
  }
}

}  // namespace

ParallelConfig read_parallel(const Fields& root, const Cluster& cluster) {
  const Fields fields = root.child("parallel");
  ParallelConfig parallel;
  read_factors(
      fields, std::array<Factor, 2>{{{"mp", &parallel.mp}, {"dp", &parallel.dp}}}, cluster);
  read_factors(
      fields,
      std::array<Factor, 3>{{{"esp", &parallel.esp}, {"ep", &parallel.ep}, {"edp", &parallel.edp}}},
      cluster);
  return parallel;
}

}  // namespace moesim::io
