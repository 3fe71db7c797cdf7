#include "sim/collective/hit_chance.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace moesim {
namespace {

// Coefficients of z^0 to z^k; e_k of a set of odds is the k-th of prod (1 + w z).
using Polynomial = std::vector<double>;

Polynomial one(int top_k) {
  Polynomial unit(top_k + 1);
  unit[0] = 1;
  return unit;
}

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial made(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; i + j < a.size(); ++j) {
      made[i + j] += a[i] * b[j];
    }
  }
  return made;
}

Polynomial of_experts(double odds, int count, int top_k) {
  Polynomial made = one(top_k);
  for (int expert = 0; expert < count; ++expert) {
    for (int i = top_k; i > 0; --i) {
      made[i] += odds * made[i - 1];
    }
  }
  return made;
}

// For each factor, the k-th coefficient of the product of all others; the last: of all.
std::vector<double> without_each(const std::vector<Polynomial>& factors, int top_k) {
  const std::size_t size = factors.size();
  std::vector<Polynomial> after(size + 1, one(top_k));  // the product of factors from i on
  for (std::size_t i = size; i-- > 0;) {
    after[i] = product(factors[i], after[i + 1]);
  }
  std::vector<double> left(size + 1);
  Polynomial before = one(top_k);
  for (std::size_t i = 0; i < size; ++i) {
    for (int j = 0; j <= top_k; ++j) {
      left[i] += before[j] * after[i + 1][top_k - j];
    }
    before = product(before, factors[i]);
  }
  left[size] = before[top_k];
  return left;
}

struct Source {
  double tokens = 0;
  int top_k = 1;
};

// Within what `rows` rows for a set of `experts` experts allow. Where fewer experts are chosen than
// a token needs, no draw explains the counts: as few rows meet as can.
double bounded(double miss, double all, double rows, int experts, const Source& source) {
  const double most = std::min(1.0, rows / source.tokens);
  const double least =
      std::min(most, rows / (source.tokens * std::min(source.top_k, std::max(1, experts))));
  return all > 0 ? std::clamp(1 - miss / all, least, most) : most;
}

// First the chance of each factor's set.
std::vector<double> chances(const std::vector<Polynomial>& factors,
                            const std::vector<double>& rows,
                            const std::vector<int>& experts,
                            const Source& source) {
  const std::vector<double> left = without_each(factors, source.top_k);
  std::vector<double> made;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    made.push_back(bounded(left[i], left.back(), rows[i], experts[i], source));
  }
  return made;
}

// Of an expert that this share of the tokens chooses, in units of that of the likeliest: a factor
// that is common to all odds cancels, and large powers do not overflow.
std::vector<double> relative_odds(const std::vector<double>& shares) {
  constexpr double kAlways = 1 - 1e-9;
  std::vector<double> odds;
  for (const double share : shares) {
    const double kept = std::min(share, kAlways);
    odds.push_back(kept / (1 - kept));
  }
  const double most = *std::max_element(odds.begin(), odds.end());
  for (double& value : odds) {
    value /= most;
  }
  return odds;
}

}  // namespace

double hit_chance(int num_experts, int top_k, int among) {
  double miss = 1;
  for (int i = 0; i < top_k; ++i) {
    miss *= static_cast<double>(std::max(0, num_experts - among - i)) / (num_experts - i);
  }
  return 1 - miss;
}

HitChances hit_chances(const std::vector<double>& rows,
                       const std::vector<std::vector<int>>& on_node,
                       int num_experts,
                       int top_k) {
  const auto size = static_cast<std::int64_t>(rows.size());
  HitChances made{std::vector<double>(rows.size()), std::vector<double>(on_node.size())};
  const Source source{std::accumulate(rows.begin(), rows.end(), 0.0) / top_k, top_k};
  if (!(source.tokens > 0)) {
    return made;
  }
  std::vector<int> experts;
  std::vector<double> shares;
  for (std::int64_t i = 0; i < size; ++i) {
    experts.push_back(static_cast<int>(num_experts * (i + 1) / size - num_experts * i / size));
    shares.push_back(rows[i] / (source.tokens * std::max(1, experts.back())));
  }
  const std::vector<double> odds = relative_odds(shares);
  std::vector<Polynomial> of_member;
  for (std::int64_t i = 0; i < size; ++i) {
    of_member.push_back(of_experts(odds[i], experts[i], top_k));
  }
  made.of_member = chances(of_member, rows, experts, source);
  std::vector<Polynomial> of_node;
  std::vector<double> node_rows;
  std::vector<int> node_experts;
  for (const std::vector<int>& members : on_node) {
    Polynomial together = one(top_k);
    node_rows.push_back(0);
    node_experts.push_back(0);
    for (const int member : members) {
      together = product(together, of_member[member]);
      node_rows.back() += rows[member];
      node_experts.back() += experts[member];
    }
    of_node.push_back(std::move(together));
  }
  made.of_node = chances(of_node, node_rows, node_experts, source);
  return made;
}

}  // namespace moesim
