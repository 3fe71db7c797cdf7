#include "sim/collective/hierarchical_flows.h"

#include "sim/collective/algorithm_phases.h"
#include "sim/collective/cost_curve.h"

namespace moesim {

void hierarchical_flows(const Collective& collective,
                        int phase,
                        const Seating& seating,
                        const VisitFlow& visit) {
  const Phase part = phases_of(collective.operation, Algorithm::kHierarchical, Span::kBoth)[phase];
  const auto on_node = static_cast<int>(seating.on_node[0].size());
  if (part.among == Among::kNode) {
    rings_within_nodes(seating, wire_share(part.operation, on_node), visit);
  } else {
    rings_between_nodes(seating, wire_share(part.operation, seating.num_nodes()) / on_node, visit);
  }
}

}  // namespace moesim
