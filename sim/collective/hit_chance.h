#pragma once

#include <vector>

namespace moesim {

// The chance that at least one of a token's top_k different experts, drawn uniformly from
// num_experts, lies among `among` of them. Hypergeometric: of the C(E, k) draws, C(E - a, k) miss
// all a experts, so
//   1 - C(E - a, k) / C(E, k) = 1 - prod_{i < k} (E - a - i) / (E - i)
// The expected number of distinct nodes of a token is the sum over nodes.
double hit_chance(int num_experts, int top_k, int among);

// The chances for each member and each node of a group whose members hold equal runs of the
// experts, where a source sends rows[i] rows to member i (its own included).
struct HitChances {
  std::vector<double> of_member;
  std::vector<double> of_node;
};

// Counts say how often experts are chosen, not which are chosen together: choices are taken as
// independent but for being top_k different ones (conditional Bernoulli sampling; Chen, Dempster
// and Liu, "Weighted finite population sampling to maximize entropy", 1994), with odds w, the same
// for all experts of a member, such that each is chosen as often as counted. The chance to miss a
// set is e_k(w outside of it) / e_k(w), e_k the elementary symmetric polynomial; uniform counts
// give hit_chance. Counts that no such odds explain, as padding makes them, are kept within rows /
// (tokens * min(k, a)) and rows / tokens, a being the experts of the set. `on_node` are the members
// of each node.
HitChances hit_chances(const std::vector<double>& rows,
                       const std::vector<std::vector<int>>& on_node,
                       int num_experts,
                       int top_k);

}  // namespace moesim
