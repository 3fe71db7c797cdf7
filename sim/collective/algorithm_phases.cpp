#include "sim/collective/algorithm_phases.h"

#include "sim/collective/tree_flows.h"

namespace moesim {
namespace {

constexpr auto kAllReduce = CollectiveOperation::kAllReduce;
constexpr auto kAllGather = CollectiveOperation::kAllGather;
constexpr auto kReduceScatter = CollectiveOperation::kReduceScatter;
constexpr auto kBroadcast = CollectiveOperation::kBroadcast;

Steps one_after_the_other(CollectiveOperation operation, const MemberPlace& place) {
  const int messages = operation == CollectiveOperation::kShift ? 1
                       : operation == kAllReduce                ? 2 * (place.size - 1)
                                                                : place.size - 1;
  return place.span() == Span::kNode ? Steps{.within = messages} : Steps{.between = messages};
}

Steps tree_steps(CollectiveOperation operation, const MemberPlace& place) {
  return operation == kBroadcast
             ? Steps{.within = tree_depth(place.on_node), .between = tree_depth(place.nodes)}
             : Steps{.within = 2 * (place.on_node - 1), .between = 2 * tree_depth(place.nodes)};
}

Steps in_switch_steps(CollectiveOperation operation, const MemberPlace& place) {
  const int within = place.on_node == 1 ? 0 : operation == kAllReduce ? 2 : 1;
  const int between = operation == kAllReduce   ? 2 * tree_depth(place.nodes)
                      : operation == kBroadcast ? tree_depth(place.nodes)
                                                : place.nodes - 1;
  return {.within = within, .between = between};
}

}  // namespace

MemberPlace Phase::place(const MemberPlace& whole) const {
  switch (among) {
    case Among::kNode:
      return {.size = whole.on_node, .nodes = 1, .on_node = whole.on_node};
    case Among::kPlace:
      return {.size = whole.nodes, .nodes = whole.nodes, .on_node = 1};
    case Among::kAll:
      break;
  }
  return whole;
}

std::vector<Phase> phases_of(CollectiveOperation operation, Algorithm algorithm, Span span) {
  if (algorithm != Algorithm::kHierarchical || span != Span::kBoth) {
    return {{operation}};
  }
  const Phase within{operation, Among::kNode};
  const Phase between{operation, Among::kPlace, operation != CollectiveOperation::kAllToAll};
  if (operation == kAllReduce) {
    return {{kReduceScatter, Among::kNode}, between, {kAllGather, Among::kNode}};
  }
  return operation == kAllGather ? std::vector{between, within} : std::vector{within, between};
}

Steps steps_of(CollectiveOperation operation, Algorithm algorithm, const MemberPlace& place) {
  switch (algorithm) {
    case Algorithm::kTree:
      return tree_steps(operation, place);
    case Algorithm::kInSwitch:
      return in_switch_steps(operation, place);
    case Algorithm::kPipe:
      return {.within = place.on_node - 1, .between = place.size - place.on_node, .at_once = true};
    case Algorithm::kDeduplicated:
      return {.within = place.on_node - 1, .between = place.nodes - 1};
    default:
      return one_after_the_other(operation, place);
  }
}

}  // namespace moesim
