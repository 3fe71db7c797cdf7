#include "sim/collective/algorithm_plan.h"

#include "sim/collective/entry_choice.h"

namespace moesim {
namespace {

EntryQuery query_of(CollectiveOperation operation, const GroupShape& shape) {
  return {.operation = operation, .span = shape.span, .size = shape.size, .nodes = shape.nodes};
}

}  // namespace

Algorithm chosen_algorithm(const Profile& profile,
                           CollectiveOperation operation,
                           const GroupShape& shape) {
  for (const AlgorithmChoice& choice : profile.algorithms) {
    if (choice.operation == operation && choice.span.value_or(shape.span) == shape.span) {
      return choice.algorithm;
    }
  }
  const CollectiveCost* nearest = find_entry(profile, query_of(operation, shape));
  return nearest != nullptr ? nearest->algorithm : Algorithm::kDefault;
}

std::string obstacle(const Collective& collective, Algorithm algorithm, const GroupShape& shape) {
  if (algorithm == Algorithm::kInSwitch && !shape.in_switch) {
    return "no NVSwitches join the members on a node; choose another algorithm";
  }
  if (algorithm == Algorithm::kDeduplicated && collective.top_k == 0) {
    return "it does not say which experts its rows are for; give its top_k and num_experts, or "
           "choose another algorithm";
  }
  return {};
}

AlgorithmPlan make_plan(const Profile& profile,
                        CollectiveOperation operation,
                        Algorithm algorithm,
                        const GroupShape& shape) {
  AlgorithmPlan plan{.algorithm = resolved(operation, algorithm)};
  const bool is_exchange = operation == CollectiveOperation::kAllToAll;
  const bool has_levels = shape.span == Span::kBoth && (shape.is_even || is_exchange);
  const bool needs_levels =
      plan.algorithm == Algorithm::kHierarchical || plan.algorithm == Algorithm::kPipe;
  if (needs_levels && !has_levels) {
    plan.algorithm = resolved(operation, Algorithm::kDefault);
  }
  plan.is_default = plan.algorithm == resolved(operation, Algorithm::kDefault);
  EntryQuery query = query_of(operation, shape);
  query.algorithm = plan.algorithm;
  query.needs_transfer = true;
  plan.is_measured = !plan.is_default && find_entry(profile, query) != nullptr;
  const bool in_one = plan.is_default || plan.is_measured;
  plan.phases = phases_of(operation, in_one ? Algorithm::kDefault : plan.algorithm, shape.span);
  return plan;
}

}  // namespace moesim
