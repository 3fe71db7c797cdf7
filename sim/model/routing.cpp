#include "sim/model/routing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "sim/base/check.h"
#include "sim/base/random.h"

namespace moesim {
namespace {

using Counts = std::vector<int>;

constexpr int kMaxDraws = 100;  // per choice of a token

// Popularity of each expert: 1/i^s in an order that the seed shuffles.
std::vector<double> zipf_popularity(int experts, double exponent, uint64_t seed) {
  std::vector<double> popularity;
  for (int i = 1; i <= experts; ++i) {
    popularity.push_back(std::pow(i, -exponent));
  }
  Random random(seed);
  random.shuffle(popularity);
  return popularity;
}

// An expert that is not among the chosen, by popularity.
size_t draw_other(const std::vector<double>& popularity,
                  const std::vector<size_t>& chosen,
                  Random& random) {
  std::vector<double> left = popularity;
  for (const size_t expert : chosen) {
    left[expert] = 0;
  }
  double target = random.uniform() * std::accumulate(left.begin(), left.end(), 0.0);
  size_t last = 0;  // where rounding leaves the target beyond the sum
  for (size_t expert = 0; expert < left.size(); ++expert) {
    if (left[expert] > 0 && target < left[expert]) {
      return expert;
    }
    target -= left[expert];
    last = left[expert] > 0 ? expert : last;
  }
  return last;
}

// Every token draws k different experts by popularity. A few very popular ones would come up again
// and again: after so many draws the rest is drawn among the others alone.
Counts draw_counts(const std::vector<double>& popularity, int rows, int top_k, Random random) {
  std::vector<double> cumulative(popularity.size());
  std::partial_sum(popularity.begin(), popularity.end(), cumulative.begin());
  Counts counts(popularity.size(), 0);
  std::vector<size_t> chosen;
  for (int row = 0; row < rows; ++row) {
    chosen.clear();
    for (int draws = 0; chosen.size() < static_cast<size_t>(top_k); ++draws) {
      const double target = random.uniform() * cumulative.back();
      const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), target);
      const auto drawn =
          static_cast<size_t>(std::min(at - cumulative.begin(), std::ssize(cumulative) - 1));
      const size_t expert =
          draws < kMaxDraws * top_k ? drawn : draw_other(popularity, chosen, random);
      if (std::find(chosen.begin(), chosen.end(), expert) == chosen.end()) {
        chosen.push_back(expert);
        ++counts[expert];
      }
    }
  }
  return counts;
}

// Scales counts to a sum of `choices`: each rounded down, the remainder to the first experts that
// still have room for it.
Counts scale_counts(const Counts& counts, int rows, int64_t choices) {
  const int64_t sum = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  CHECK(sum > 0, "a routing without tokens");
  Counts scaled;
  for (const int count : counts) {
    scaled.push_back(static_cast<int>(std::min<int64_t>(rows, count * choices / sum)));
  }
  int64_t missing = choices - std::accumulate(scaled.begin(), scaled.end(), int64_t{0});
  while (missing > 0) {
    for (size_t expert = 0; expert < scaled.size() && missing > 0; ++expert) {
      if (scaled[expert] < rows) {
        ++scaled[expert];
        --missing;
      }
    }
  }
  return scaled;
}

}  // namespace

std::vector<Counts> make_routing(const Scenario& scenario, const RoutingDomain& domain) {
  const RoutingConfig& routing = scenario.routing;
  const ModelConfig& model = scenario.model;
  CHECK(domain.rows > 0 && domain.ranks_per_domain > 0 && model.top_k <= model.experts);
  std::vector<Counts> tokens;
  if (routing.kind == RoutingKind::kBalanced || model.gate == GateKind::kExpertChoice) {
    return tokens;  // experts that choose their tokens all get the same number
  }
  const auto popularity = zipf_popularity(model.experts, routing.zipf_exponent, scenario.seed);
  for (int rank = 0; rank < scenario.parallel.world(); ++rank) {
    const int owner = rank - rank % domain.ranks_per_domain;
    if (owner != rank) {
      tokens.push_back(tokens.back());
    } else if (routing.kind == RoutingKind::kZipf) {
      const auto stream = static_cast<uint64_t>(owner) + 1;
      tokens.push_back(
          draw_counts(popularity, domain.rows, model.top_k, Random(scenario.seed, stream)));
    } else {
      tokens.push_back(scale_counts(routing.tokens.at(static_cast<size_t>(owner)),
                                    domain.rows,
                                    int64_t{domain.rows} * model.top_k));
    }
  }
  return tokens;
}

int largest_count(const std::vector<Counts>& tokens) {
  int largest = 0;
  for (const Counts& counts : tokens) {
    largest = std::max(largest, *std::max_element(counts.begin(), counts.end()));
  }
  return largest;
}

}  // namespace moesim
