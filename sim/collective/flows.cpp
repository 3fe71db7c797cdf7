#include "sim/collective/flows.h"

#include "sim/base/check.h"
#include "sim/collective/algorithm_phases.h"
#include "sim/collective/cost_curve.h"
#include "sim/collective/exchange_flows.h"
#include "sim/collective/hierarchical_flows.h"
#include "sim/collective/in_switch_flows.h"
#include "sim/collective/tree_flows.h"

namespace moesim {
namespace {

void shift(const Collective& collective, int size, const VisitFlow& visit) {
  for (int from = 0; from < size; ++from) {
    int to = from + (collective.wrap ? collective.distance % size : collective.distance);
    if (collective.wrap) {
      to = (to + size) % size;
    }
    if (to >= 0 && to < size && to != from) {
      visit({from, to, 1});
    }
  }
}

// Member orders of all rings.
std::vector<std::vector<int>> rings(const Seating& seating) {
  const size_t count = seating.num_nodes() == 1 || !seating.is_even ? 1 : seating.on_node[0].size();
  std::vector<std::vector<int>> orders(count);
  for (size_t ring = 0; ring < count; ++ring) {
    for (const std::vector<int>& here : seating.on_node) {
      for (size_t i = 0; i < here.size(); ++i) {
        orders[ring].push_back(here[(i + ring) % here.size()]);
      }
    }
  }
  return orders;
}

void over_rings(const Collective& collective, const Seating& seating, const VisitFlow& visit) {
  const std::vector<std::vector<int>> orders = rings(seating);
  const double share =
      wire_share(collective.operation, seating.size()) / static_cast<double>(orders.size());
  const bool is_broadcast = collective.operation == CollectiveOperation::kBroadcast;
  for (const std::vector<int>& order : orders) {
    ring_flows(order, share, [&](const MemberFlow& flow) {
      if (!is_broadcast || flow.to != collective.root) {
        visit(flow);
      }
    });
  }
}

}  // namespace

void ring_flows(const std::vector<int>& order, double share, const VisitFlow& visit) {
  for (size_t i = 0; order.size() > 1 && i < order.size(); ++i) {
    visit({order[i], order[(i + 1) % order.size()], share});
  }
}

void rings_within_nodes(const Seating& seating, double share, const VisitFlow& visit) {
  for (const std::vector<int>& here : seating.on_node) {
    ring_flows(here, share, visit);
  }
}

void rings_between_nodes(const Seating& seating, double share, const VisitFlow& visit) {
  CHECK(seating.is_even);
  for (size_t place = 0; place < seating.on_node[0].size(); ++place) {
    std::vector<int> order;
    for (const std::vector<int>& here : seating.on_node) {
      order.push_back(here[place]);
    }
    ring_flows(order, share, visit);
  }
}

void for_each_flow(const Collective& collective,
                   const FlowStep& step,
                   const Seating& seating,
                   const VisitFlow& visit) {
  if (seating.size() < 2) {
    return;
  }
  if (step.phase == kEveryPhase) {
    const auto count = std::ssize(phases_of(collective.operation, step.algorithm, Span::kBoth));
    for (int phase = 0; phase < count; ++phase) {
      for_each_flow(collective, {step.algorithm, phase}, seating, visit);
    }
    return;
  }
  if (collective.operation == CollectiveOperation::kAllToAll) {
    const double part = 1.0 / seating.size();
    exchange_flows(
        collective, step, seating, [part](int, int) { return part; }, visit);
    return;
  }
  switch (resolved(collective.operation, step.algorithm)) {
    case Algorithm::kDirect:
      shift(collective, seating.size(), visit);
      return;
    case Algorithm::kTree:
      tree_flows(collective, seating, visit);
      return;
    case Algorithm::kInSwitch:
      in_switch_flows(collective, seating, visit);
      return;
    case Algorithm::kHierarchical:
      hierarchical_flows(collective, step.phase, seating, visit);
      return;
    default:
      over_rings(collective, seating, visit);
  }
}

}  // namespace moesim
