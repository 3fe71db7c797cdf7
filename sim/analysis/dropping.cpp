#include "sim/analysis/dropping.h"

#include <algorithm>

#include "sim/program/operands.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

struct Pairs {
  double chosen = 0;
  double kept = 0;

  double share() const { return chosen == 0 ? 1 : kept / chosen; }
};

// Rows that each expert has for one domain: the index tensor's, over all blocks of the expert.
int64_t capacity(const Gate& gate, const Task& task, size_t num_experts) {
  return task.writes[1].num_list_rows() / static_cast<int64_t>(num_experts) / gate.domains;
}

// On all ranks that run it together. Balanced choices fill all experts alike.
Pairs pairs_of(const Program& program, const RoleTable& roles, const Gate& gate, const Task& task) {
  Pairs pairs;
  if (gate.routing == kNone) {
    std::size_t ranks = 0;
    for (const int role : roles.running(task)) {
      ranks += roles.ranks(role).size();
    }
    const auto num_ranks = static_cast<double>(ranks);
    const double tokens = static_cast<double>(task.writes[0].num_list_rows()) * num_ranks;
    const double slots = static_cast<double>(task.writes[1].num_list_rows()) * num_ranks;
    pairs.chosen = gate.top_k * tokens;
    pairs.kept = gate.gate == GateKind::kExpertChoice ? slots : std::min(pairs.chosen, slots);
    return pairs;
  }
  const auto& tokens = program.routings[static_cast<size_t>(gate.routing)].tokens;
  for (const int role : roles.running(task)) {
    for (const int rank : roles.ranks(role)) {
      const std::vector<int>& counts = tokens[static_cast<size_t>(rank)];
      const int64_t rows = capacity(gate, task, counts.size());
      for (const int count : counts) {
        pairs.chosen += count;
        pairs.kept += static_cast<double>(gate.no_drop ? count : std::min<int64_t>(count, rows));
      }
    }
  }
  return pairs;
}

}  // namespace

double kept_share(const Program& program) {
  const RoleTable roles(program);
  Pairs sum;
  for (const Task& task : program.tasks) {
    const auto* gate = std::get_if<Gate>(&task.descriptor);
    if (gate != nullptr && task.pass == Pass::kForward && !task.writes.empty()) {
      need_regions(task, 0, 2);
      const Pairs pairs = pairs_of(program, roles, *gate, task);
      sum.chosen += pairs.chosen;
      sum.kept += pairs.kept;
    }
  }
  return sum.share();
}

double dropped_share(const Program& program) {
  return std::max(0.0, 1 - kept_share(program));
}

}  // namespace moesim
