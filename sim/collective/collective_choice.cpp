// Which algorithm a collective takes.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/collective/collective_cost.h"
#include "sim/collective/cost_curve.h"

namespace moesim {
namespace {

// The same collective with equal parts everywhere.
Task balanced(const Task& task) {
  Task made;
  made.name = task.name;
  Collective collective = std::get<Collective>(task.descriptor);
  collective.routing = kNone;
  made.descriptor = collective;
  return made;
}

}  // namespace

const AlgorithmPlan& CollectiveCosts::plan(const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const auto operation = static_cast<int>(collective.operation);
  PlanKey key{0, operation, 0, 0, 0};
  if (!only_default_) {
    key = {collective.group,
           operation,
           collective.top_k,
           collective.num_experts,
           may_be_fastest_ ? collective.bytes : 0};
  }
  const auto found = plans_.find(key);
  return found != plans_.end() ? found->second
                               : plans_.emplace(key, make_plan_for(task)).first->second;
}

AlgorithmPlan CollectiveCosts::make_plan_for(const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  if (only_default_) {
    return {.algorithm = resolved(collective.operation, Algorithm::kDefault),
            .phases = {{collective.operation}}};
  }
  const GroupShape& shape = traffic_.shape(task);
  const std::string name = describe(collective.operation, shape.span);
  Algorithm chosen = chosen_algorithm(*profile_, collective.operation, shape);
  if (chosen == Algorithm::kFastest) {
    chosen = fastest(task, shape);
    note(
        fmt::format("{}: of {} over {} ranks {} is the fastest algorithm; those that the "
                    "profile has not measured are compared without start-ups, unless it has them",
                    name,
                    format_bytes(collective.bytes),
                    shape.size,
                    to_string(chosen)));
  }
  const std::string problem = obstacle(collective, chosen, shape);
  if (!problem.empty()) {
    throw Error(fmt::format("'{}' ({}) cannot be {}: {}",
                            visible_in_line(task.name),
                            name,
                            to_string(chosen),
                            problem));
  }
  if (chosen == Algorithm::kInSwitch && !traffic_.has_links()) {
    note(fmt::format("{}: NVSwitches are taken to join the GPUs of a node", name));
  }
  AlgorithmPlan plan = make_plan(*profile_, collective.operation, chosen, shape);
  if (chosen != Algorithm::kDefault && plan.algorithm != chosen) {
    note(fmt::format("{}: {} where {} does not apply, over one level or unequal nodes",
                     name,
                     to_string(plan.algorithm),
                     to_string(chosen)));
  } else if (!plan.is_default) {
    note(fmt::format("{}: algorithm {}", name, to_string(plan.algorithm)));
  }
  return plan;
}

// Of equal times the first in the list of algorithms_of.
Algorithm CollectiveCosts::fastest(const Task& task, const GroupShape& shape) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const Task tried = balanced(task);
  Algorithm best = Algorithm::kDefault;
  std::optional<Time> least;
  for (const Algorithm algorithm : algorithms_of(collective.operation)) {
    if (!obstacle(collective, algorithm, shape).empty()) {
      continue;
    }
    Profile profile = *profile_;
    profile.algorithms = {{.operation = collective.operation, .span = {}, .algorithm = algorithm}};
    const Time time = CollectiveCosts(*program_, *cluster_, profile, *valid_rows_).alone(tried);
    if (!least || time < *least) {
      best = algorithm;
      least = time;
    }
  }
  return best;
}

// All instances of a balanced collective's group at once.
Time CollectiveCosts::alone(const Task& task) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  Time sum;
  for (int phase = 0; phase < num_phases(task); ++phase) {
    Time startup;
    Time transfer;
    for (const std::vector<int>& members : program_->groups[collective.group].members) {
      const std::vector<MemberPlace> places = places_of(*cluster_, members);
      for (int i = 0; i < std::ssize(members); ++i) {
        const CollectiveLoad share =
            load(task, Member{.ranks = &members, .index = i, .place = places[i]}, phase);
        startup = std::max(startup, share.startup);
        transfer = std::max(transfer, share.alone() - share.startup);
      }
    }
    if (const auto loads = link_loads(task, phase)) {
      const double seconds = loads->busiest * static_cast<double>(collective.bytes);
      transfer = std::max(transfer, checked_time(seconds, task.name));
    }
    sum += startup + transfer;
  }
  return sum;
}

}  // namespace moesim
