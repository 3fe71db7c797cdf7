#include "sim/collective/layout_laws.h"

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"
#include "sim/collective/cost_curve.h"

namespace moesim {
namespace {

using enum CollectiveOperation;

bool is_ring(CollectiveOperation operation) {
  return operation == kAllGather || operation == kReduceScatter || operation == kAllReduce;
}

// The start-up of one hop, or to one peer: measured over n0 - 1 of them, an all-reduce's twice.
double startup_of_a_hop(const MeasuredLayout& measured) {
  return measured.startup() / (measured.layout.size() - 1);
}

// The transfer of the measured collective that puts as many bytes on its wire as `wire_bytes`.
double transfer_of(CollectiveOperation operation,
                   const MeasuredLayout& measured,
                   double wire_bytes) {
  return measured.transfer(wire_bytes / wire_share(operation, measured.layout));
}

// What inside a node a GPU's port carries, over the nominal bytes, while the group spans nodes.
double share_in_node(CollectiveOperation operation, const Layout& to) {
  if (operation == kAllToAll) {
    return static_cast<double>(to.gpus_per_node - 1) / to.size();
  }
  return wire_share(operation, to.size());
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

LawTime more_steps(CollectiveOperation operation,
                   const MeasuredLayout& from,
                   const Layout& to,
                   double bytes) {
  const int n = to.size();
  const int n0 = from.layout.size();
  const double message = bytes * n0 / n;
  const double startup = startup_seconds(*from.cost, n);
  if (operation == kShift) {
    return {from.startup(), from.transfer(bytes)};
  }
  if (operation == kBroadcast) {
    return {startup, from.transfer(bytes)};
  }
  const int g = operation == kAllToAll && to.nodes > 1 ? to.gpus_per_node : 1;
  return {startup, from.transfer(message) * (n - g) / (n0 - g)};
}

LawTime deeper_tree(const MeasuredLayout& from, const Layout& to, double bytes) {
  CHECK(from.layout.nodes > 1 && to.nodes > 1);
  const double depth = std::log2(to.nodes) / std::log2(from.layout.nodes);
  return {from.startup() * depth, from.transfer(bytes)};
}

Composition composed(CollectiveOperation operation,
                     const MeasuredLayout& in_node,
                     const MeasuredLayout& between_nodes,
                     const Layout& to,
                     double bytes) {
  const int n = to.size();
  const int g = to.gpus_per_node;
  const double hop_between = startup_of_a_hop(between_nodes);
  const double hop_inside = startup_of_a_hop(in_node);
  const double wire = transfer_of(operation, between_nodes, bytes * wire_share(operation, to));
  const double inside = transfer_of(operation, in_node, bytes * share_in_node(operation, to));
  double startup_between = 0;
  double startup_inside = 0;
  Composition result;
  if (is_ring(operation) || operation == kBroadcast) {
    const double share_between = static_cast<double>(to.nodes) / n;
    startup_between = (n - 1) * share_between * hop_between;
    startup_inside = (n - 1) * (1 - share_between) * hop_inside;
    result.time = {startup_between + startup_inside, std::max(wire, inside)};
  } else {
    startup_between = operation == kShift ? between_nodes.startup() : (n - g) * hop_between;
    startup_inside = operation == kShift ? in_node.startup() : (g - 1) * hop_inside;
    const LawTime over_nics = {startup_between, wire};
    const LawTime over_ports = {startup_inside, inside};
    result.time = over_nics.seconds() >= over_ports.seconds() ? over_nics : over_ports;
  }
  result.low = std::max({wire, inside, startup_between, startup_inside});
  result.high = startup_between + startup_inside + wire + inside;
  return result;
}

}  // namespace moesim
