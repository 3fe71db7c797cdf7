#include "kernels/operations/gate_domains.h"

#include <algorithm>
#include <numeric>

#include "sim/program/gate_counts.h"

namespace moesim {
namespace {

std::vector<int> running_sums(const std::vector<int>& counts) {
  std::vector<int> ends(counts.size());
  std::partial_sum(counts.begin(), counts.end(), ends.begin());
  return ends;
}

// Positions of each expert's slots in the index's list of rows: through its blocks in order.
std::vector<std::vector<int64_t>> slots_by_expert(const Gate& gate,
                                                  const Operand& index,
                                                  int num_experts) {
  std::vector<std::vector<int64_t>> slots(static_cast<size_t>(num_experts));
  int64_t position = 0;
  for (size_t block = 0; block < index.spans.size(); ++block) {
    std::vector<int64_t>& own = slots[static_cast<size_t>(gate.experts[block])];
    for (int i = 0; i < index.spans[block].valid; ++i) {
      own.push_back(position++);
    }
  }
  return slots;
}

}  // namespace

GateWeighting weighting_of(GateKind kind) {
  switch (kind) {
    case GateKind::kSigmoid:
      return GateWeighting::kSigmoid;
    case GateKind::kExpertChoice:
      return GateWeighting::kSoftmax;
    case GateKind::kGshard:
    case GateKind::kXmoe:
      break;
  }
  return GateWeighting::kNormalized;
}

int gathered_over(const Program& program, int tensor) {
  for (const Task& task : program.tasks) {
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective != nullptr && collective->operation == CollectiveOperation::kAllGather &&
        !task.writes.empty() && task.writes.front().tensor == tensor) {
      return collective->group;
    }
  }
  return kNone;
}

GateDomains::GateDomains(const TaskSite& site,
                         int64_t num_rows,
                         int num_experts,
                         const Operand& index)
    : gate_(std::get<Gate>(site.task->descriptor)), num_experts_(num_experts) {
  require(site, gate_.experts.size() == index.spans.size(), "it names no expert for each block");
  for (const int expert : gate_.experts) {
    require(site, 0 <= expert && expert < num_experts, "it names an expert without probability");
  }
  require(site, gate_.top_k <= num_experts, "it chooses more experts than there are");
  std::vector<int> sources;
  if (gate_.routing != kNone) {
    const size_t x = site.task->pass == Pass::kBackward ? 3 : 0;
    const int group = gathered_over(site.program(), site.task->reads[x].tensor);
    sources = source_ranks(site.program(), site.map->groups(), gate_.domains, group, site.rank);
  }
  const int num_domains = sources.empty() ? gate_.domains : static_cast<int>(sources.size());
  require(site, num_rows % num_domains == 0, "its rows do not divide by its domains");
  for (int d = 0; d < num_domains; ++d) {
    GateDomain& domain = domains_.emplace_back();
    domain.rows = static_cast<int>(num_rows / num_domains);
    domain.first_row = int64_t{d} * domain.rows;
    if (!sources.empty()) {
      const Routing& routing = site.program().routings[static_cast<size_t>(gate_.routing)];
      const auto source = static_cast<size_t>(sources[static_cast<size_t>(d)]);
      require(site, source < routing.tokens.size(), "its routing lacks a rank");
      domain.routed_ends = running_sums(routing.tokens[source]);
      require(site,
              static_cast<int>(domain.routed_ends.size()) == num_experts,
              "its routing does not list the experts that it has probabilities of");
    }
  }
  add_slots(gate_, index, sources);
}

// Without a capacity a domain has as many slots as its routing gives it tokens; otherwise the
// domains have equal parts of an expert's slots.
void GateDomains::add_slots(const Gate& gate,
                            const Operand& index,
                            const std::vector<int>& sources) {
  const auto slots = slots_by_expert(gate, index, num_experts_);
  for (size_t expert = 0; expert < slots.size(); ++expert) {
    const auto total = static_cast<int64_t>(slots[expert].size());
    int64_t begin = 0;
    for (size_t d = 0; d < domains_.size(); ++d) {
      GateDomain& domain = domains_[d];
      int64_t end = total * static_cast<int64_t>(d + 1) / static_cast<int64_t>(domains_.size());
      if (gate.no_drop && !sources.empty()) {
        const std::vector<int>& ends = domain.routed_ends;
        const int before = expert == 0 ? 0 : ends[expert - 1];
        end = std::min(total, begin + ends[expert] - before);
      }
      domain.slots.emplace_back(slots[expert].begin() + begin, slots[expert].begin() + end);
      begin = end;
    }
  }
}

bool GateDomains::experts_choose() const {
  return gate_.gate == GateKind::kExpertChoice && gate_.routing == kNone;
}

int GateDomains::width(const GateDomain& domain) const {
  if (experts_choose()) {
    return 0;
  }
  if (domain.routed_ends.empty()) {
    return gate_.top_k;
  }
  return (domain.routed_ends.back() + domain.rows - 1) / domain.rows;
}

ChoiceRule GateDomains::choice_rule(const GateDomain& domain) const {
  const bool is_routed = !domain.routed_ends.empty();
  const ChoiceRule::Kind unrouted =
      gate_.no_drop ? ChoiceRule::Kind::kTurns : ChoiceRule::Kind::kProbability;
  return {is_routed ? ChoiceRule::Kind::kRouted : unrouted,
          num_experts_,
          domain.rows,
          width(domain),
          domain.routed_ends.data()};
}

std::vector<int> GateDomains::choices(const GateDomain& domain, const float* probabilities) const {
  const ChoiceRule rule = choice_rule(domain);
  std::vector<int> choices(static_cast<size_t>(rule.width) * static_cast<size_t>(rule.rows));
  BlockScratch<kBlockThreads> scratch;
  for (int row = 0; row < rule.rows; ++row) {
    choose_row(scratch,
               rule,
               row,
               probabilities + int64_t{row} * num_experts_,
               choices.data() + int64_t{row} * rule.width);
  }
  return choices;
}

}  // namespace moesim
