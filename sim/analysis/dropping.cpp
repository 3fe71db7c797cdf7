#include "sim/analysis/dropping.h"

#include <algorithm>

namespace moesim {
namespace {

// Rows that each expert has for one domain: the index tensor's, over all blocks of the expert.
int64_t capacity(const Gate& gate, const Task& task, size_t num_experts) {
  const Region& index = task.writes.at(1);
  return index.num_list_rows() / static_cast<int64_t>(num_experts) / gate.domains;
}

}  // namespace

double dropped_share(const Program& program) {
  int64_t choices = 0;
  int64_t dropped = 0;
  for (const Task& task : program.tasks) {
    const auto* gate = std::get_if<Gate>(&task.descriptor);
    if (gate == nullptr || task.pass != Pass::kForward || gate->routing == kNone ||
        gate->no_drop) {
      continue;
    }
    const auto& tokens = program.routings[static_cast<size_t>(gate->routing)].tokens;
    for (const std::vector<int>& counts : tokens) {
      const int64_t rows = capacity(*gate, task, counts.size());
      for (const int count : counts) {
        choices += count;
        dropped += std::max<int64_t>(0, count - rows);
      }
    }
  }
  return choices == 0 ? 0 : static_cast<double>(dropped) / static_cast<double>(choices);
}

}  // namespace moesim
