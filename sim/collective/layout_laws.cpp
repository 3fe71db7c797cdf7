#include "sim/collective/layout_laws.h"

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"
#include "sim/collective/cost_curve.h"

namespace moesim {
namespace {

using enum CollectiveOperation;

// The transfer of the measured collective that puts as many bytes on its wire as `wire_bytes`.
double transfer_of(CollectiveOperation operation,
                   const MeasuredLayout& measured,
                   double wire_bytes) {
  return measured.transfer(wire_bytes / wire_share(operation, measured.layout));
}

}  // namespace

double MeasuredLayout::startup() const {
  return startup_seconds(*cost, layout.size());
}

double MeasuredLayout::transfer(double bytes) const {
  return transfer_seconds(*cost, bytes, layout.size());
}

double wire_share(CollectiveOperation operation, const Layout& layout) {
  const int n = layout.size();
  if (layout.nodes == 1) {
    return wire_share(operation, n);
  }
  const int g = layout.gpus_per_node;
  switch (operation) {
    case kAllToAll:
      return static_cast<double>(n - g) / n;
    case kShift:
      return 1;
    default:
      return wire_share(operation, n) / g;
  }
}

std::optional<Layout> layout_of(const CollectiveCost& cost) {
  if (cost.group_size < 2) {
    return std::nullopt;
  }
  const int nodes = cost.num_nodes > 0           ? cost.num_nodes
                    : cost.span == Span::kNode   ? 1
                    : cost.span == Span::kFabric ? cost.group_size
                                                 : 0;
  if (nodes == 0) {
    return std::nullopt;
  }
  return Layout{nodes, cost.group_size / nodes};
}

LawTerms more_steps(CollectiveOperation operation,
                    const MeasuredLayout& from,
                    const MemberPlace& to) {
  const double startup = startup_seconds(*from.cost, to.size);
  if (operation == kShift) {
    return {.startup = from.startup()};
  }
  if (operation == kBroadcast) {
    return {.startup = startup};
  }
  const double n = to.size;
  const int n0 = from.layout.size();
  const int g = operation == kAllToAll && to.nodes > 1 ? to.on_node : 1;
  return {.startup = startup, .argument = n0 / n, .scale = (n - g) / (n0 - g)};
}

LawTerms deeper_tree(const MeasuredLayout& from, const MemberPlace& to) {
  CHECK(from.layout.nodes > 1 && to.nodes > 1);
  return {.startup = from.startup() * std::log2(to.nodes) / std::log2(from.layout.nodes)};
}

bool may_be_tree(const MeasuredLayout& measured) {
  const CollectiveCost& cost = *measured.cost;
  return cost.operation == kAllReduce && cost.algorithm == Algorithm::kDefault &&
         measured.layout.nodes > 1 && !cost.points.empty();
}

LevelParts level_parts(CollectiveOperation operation, const MemberPlace& to) {
  const double n = to.size;
  const double g = to.on_node;
  if (operation == kAllToAll) {
    return {.between = {n - g, (n - g) / n}, .inside = {g - 1, (g - 1) / n}, .at_once = true};
  }
  if (operation == kShift) {
    return {.between = {1, 1}, .inside = {1, 1}, .at_once = true};
  }
  const double share = wire_share(operation, to.size);
  const double share_between = to.nodes / n;
  return {.between = {(n - 1) * share_between, share / g},
          .inside = {(n - 1) * (1 - share_between), g > 1 ? share : 0}};
}

double startup_of(const LevelPart& part, const CollectiveCost& entry) {
  switch (entry.startup_per) {
    case StartupPer::kTask:
      return part.hops > 0 ? entry.startup_seconds : 0;
    case StartupPer::kPeer:
      return part.hops * entry.startup_seconds;
    case StartupPer::kStep:
      return (entry.operation == kAllReduce ? 2 : 1) * part.hops * entry.startup_seconds;
  }
  return 0;
}

Composition composed(CollectiveOperation operation,
                     const MeasuredLayout& in_node,
                     const MeasuredLayout& between_nodes,
                     const Layout& to,
                     double bytes) {
  const LevelParts parts = level_parts(operation, place_on(to));
  const double between = startup_of(parts.between, *between_nodes.cost);
  const double inside = startup_of(parts.inside, *in_node.cost);
  const double over_nics = transfer_of(operation, between_nodes, bytes * parts.between.share);
  const double over_ports = transfer_of(operation, in_node, bytes * parts.inside.share);
  return {.startup = parts.at_once ? std::max(between, inside) : between + inside,
          .over_nics = over_nics,
          .over_ports = over_ports,
          .low = std::max({over_nics, over_ports, between, inside}),
          .high = between + inside + over_nics + over_ports};
}

}  // namespace moesim
