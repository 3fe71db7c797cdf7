#pragma once

#include <vector>

#include "kernels/core/gate_scores.h"
#include "kernels/operations/operand.h"

namespace moesim {

GateWeighting weighting_of(GateKind kind);

// A capacity domain of a gate task on its rank.
struct GateDomain {
  int64_t first_row = 0;  // in the list of rows that the gate reads
  int rows = 0;
  // Which slots it has of each expert: positions in the index's list of rows.
  std::vector<std::vector<int64_t>> slots;
  // Running sums of the tokens of each expert that the gate's routing gives; empty without one.
  std::vector<int> routed_ends;
};

// The domains of a gate on one rank, and which experts their rows choose.
class GateDomains {
 public:
  // `num_rows` rows of E probabilities each; `index` is the gate's.
  GateDomains(const TaskSite& site, int64_t num_rows, int num_experts, const Operand& index);

  const std::vector<GateDomain>& domains() const { return domains_; }
  int num_experts() const { return num_experts_; }
  // Experts choose rows, not rows experts.
  bool experts_choose() const;
  // Choices of each row of the domain.
  int width(const GateDomain& domain) const;
  // How its rows choose. Points to the domain's running sums.
  ChoiceRule choice_rule(const GateDomain& domain) const;
  // rows * width choices with these probabilities (rows x E), the domain's.
  std::vector<int> choices(const GateDomain& domain, const float* probabilities) const;

 private:
  void add_slots(const Gate& gate, const Operand& index, const std::vector<int>& sources);

  Gate gate_;
  int num_experts_;
  std::vector<GateDomain> domains_;
};

// The group of the ALL_GATHER that wrote the tensor, or kNone.
int gathered_over(const Program& program, int tensor);

}  // namespace moesim
