#include "sim/collective/hit_chance.h"

#include <algorithm>
#include <cmath>
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

// For each factor, the product of all others.
std::vector<Polynomial> all_others(const std::vector<Polynomial>& factors, int top_k) {
  const std::size_t size = factors.size();
  std::vector<Polynomial> others(size, one(top_k));
  Polynomial before = one(top_k);
  Polynomial after = one(top_k);
  for (std::size_t i = 0; i < size; ++i) {
    others[i] = product(others[i], before);
    before = product(before, factors[i]);
    others[size - 1 - i] = product(others[size - 1 - i], after);
    after = product(after, factors[size - 1 - i]);
  }
  return others;
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

// Of each factor's set.
std::vector<double> chances(const std::vector<Polynomial>& factors,
                            const std::vector<double>& rows,
                            const std::vector<int>& experts,
                            const Source& source) {
  const std::vector<Polynomial> others = all_others(factors, source.top_k);
  std::vector<double> made;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double all = product(others[i], factors[i])[source.top_k];
    made.push_back(bounded(others[i][source.top_k], all, rows[i], experts[i], source));
  }
  return made;
}

// How much more often experts are wanted than these odds choose one of each member's:
//   share * e_k(w) / (w e_(k-1)(w without it))
std::vector<double> corrections(const std::vector<double>& odds,
                                const std::vector<double>& shares,
                                const std::vector<int>& experts,
                                int top_k) {
  std::vector<Polynomial> factors;
  for (std::size_t i = 0; i < odds.size(); ++i) {
    factors.push_back(of_experts(odds[i], experts[i], top_k));
  }
  const std::vector<Polynomial> others = all_others(factors, top_k);
  std::vector<double> made(odds.size(), 1);
  for (std::size_t i = 0; i < odds.size(); ++i) {
    const double all = product(others[i], factors[i])[top_k];
    const Polynomial without = product(others[i], of_experts(odds[i], experts[i] - 1, top_k));
    if (const double chosen = odds[i] * without[top_k - 1]; chosen > 0) {
      made[i] = shares[i] * all / chosen;
    }
  }
  return made;
}

// Odds of one expert of each member with which it is chosen by its share of the tokens, in units of
// the largest: a factor that is common to all cancels, and large powers do not overflow. (The
// iteration of Chen, Dempster and Liu, section 3.)
std::vector<double> fitted_odds(const std::vector<double>& shares,
                                const std::vector<int>& experts,
                                int top_k) {
  constexpr int kMaxRounds = 100;
  constexpr double kExact = 1e-9;
  std::vector<double> odds = shares;
  for (int round = 0; round < kMaxRounds; ++round) {
    const double most = *std::max_element(odds.begin(), odds.end());
    for (double& value : odds) {
      value /= most;
    }
    const std::vector<double> factors = corrections(odds, shares, experts, top_k);
    double worst = 0;
    for (std::size_t i = 0; i < odds.size(); ++i) {
      odds[i] *= factors[i];
      worst = std::max(worst, std::abs(factors[i] - 1));
    }
    if (worst < kExact) {
      break;
    }
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
  const std::vector<double> odds = fitted_odds(shares, experts, top_k);
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
