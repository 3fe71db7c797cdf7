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
#include "sim/collective/entry_choice.h"

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

// What is left of a profile without what bytes take: the start-up of each step.
Profile startups_alone(Profile profile, const GroupShape& shape) {
  for (CollectiveCost& cost : profile.collectives) {
    const MemberPlace place{.size = shape.size, .nodes = shape.nodes, .on_node = 1};
    cost.startup_seconds = step_startup(cost, place);
    cost.startup_per = StartupPer::kStep;
    cost.points.clear();
    cost.seconds_per_byte = 0;
    cost.only_startup = true;
    cost.bottleneck = BottleneckPlace::kPort;
  }
  return profile;
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

// What was measured holds what a machine loses beyond its links, what was not measured does not.
// So an algorithm that was not measured is taken before one that was only where it is faster on an
// equal footing, too: links, ports and start-ups alone, of both. Of equal times the first in the
// list of algorithms_of.
Algorithm CollectiveCosts::fastest(const Task& task, const GroupShape& shape) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const std::vector<Tried> known = tried(task, shape, *profile_);
  const auto faster = [](const Tried& a, const Tried& b) { return a.time < b.time; };
  const auto slower_if_unmeasured = [](const Tried& a, const Tried& b) {
    return std::pair(!a.is_measured, a.time) < std::pair(!b.is_measured, b.time);
  };
  const auto best = std::min_element(known.begin(), known.end(), faster);
  const auto measured = std::min_element(known.begin(), known.end(), slower_if_unmeasured);
  Algorithm chosen = best->algorithm;
  std::string standing;
  if (!best->is_measured && measured->is_measured) {
    const Profile startups = startups_alone(*profile_, shape);
    const Time of_best = tried_one(task, best->algorithm, startups).time;
    const Time of_measured = tried_one(task, measured->algorithm, startups).time;
    const bool is_sure = of_best < of_measured;
    chosen = is_sure ? best->algorithm : measured->algorithm;
    standing = is_sure ? "; it was not measured, and is faster by links and start-ups alone, too"
                       : fmt::format(
                             "; {} may be faster: it was not measured, and what the "
                             "machine loses beyond links is not known of it",
                             to_string(best->algorithm));
  } else if (!measured->is_measured && known.size() > 1) {
    standing = "; none was measured: by links, ports and start-ups alone";
  }
  note(fmt::format("{}: of {} over {} ranks {} is the fastest algorithm{}",
                   describe(collective.operation, shape.span),
                   format_bytes(collective.bytes),
                   shape.size,
                   to_string(chosen),
                   standing));
  return chosen;
}

std::vector<CollectiveCosts::Tried> CollectiveCosts::tried(const Task& task,
                                                           const GroupShape& shape,
                                                           const Profile& profile) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  std::vector<Tried> all;
  for (const Algorithm algorithm : algorithms_of(collective.operation)) {
    if (obstacle(collective, algorithm, shape).empty()) {
      all.push_back(tried_one(task, algorithm, profile));
    }
  }
  return all;
}

CollectiveCosts::Tried CollectiveCosts::tried_one(const Task& task,
                                                  Algorithm algorithm,
                                                  const Profile& profile) const {
  const auto operation = std::get<Collective>(task.descriptor).operation;
  Profile choosing = profile;
  choosing.algorithms = {{.operation = operation, .span = {}, .algorithm = algorithm}};
  const CollectiveCosts costs(*program_, *cluster_, choosing, *valid_rows_);
  const Time time = costs.alone(balanced(task));
  const auto is_measured = [](const CachedTariff& cached) {
    const auto [intra, inter] = std::pair(cached.tariff.intra, cached.tariff.inter);
    return (!intra.used || intra.measured) && (!inter.used || inter.measured);
  };
  return {algorithm, time, std::ranges::all_of(costs.tariffs_, is_measured)};
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
