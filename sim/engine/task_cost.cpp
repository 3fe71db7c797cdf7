#include "sim/engine/task_cost.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cluster/cluster_links.h"
#include "sim/collective/cost_curve.h"
#include "sim/program/variation.h"
#include "sim/program/work.h"

namespace moesim {
namespace {

double operation_seconds(const OperationCost& cost, const Work& work) {
  if (cost.points.empty()) {
    return cost.startup_seconds + work.flops * cost.seconds_per_flop +
           work.memory_bytes * cost.seconds_per_byte;
  }
  const double amount = work.flops > 0 ? work.flops : work.memory_bytes;
  return amount > 0 ? interpolate(cost.points, amount) : 0;
}

// To the nearest ps.
Time scaled(Time time, double factor, const Task& task) {
  if (factor == 1) {
    return time;
  }
  checked_time(time.seconds() * factor, task.name);
  return time.scaled(factor);
}

}  // namespace

void check_total(const std::vector<Time>& durations) {
  constexpr double kHundredDays = 100 * 86'400;
  double seconds = 0;
  for (const Time duration : durations) {
    seconds += duration.seconds();
  }
  if (seconds > kHundredDays) {
    throw Error(
        "the tasks of one rank take more than 100 days together; check sizes, rates, start-up and "
        "fixed times");
  }
}

TaskCosts::TaskCosts(const Program& program, const Cluster* cluster, const Profile* profile)
    : program_(program),
      cluster_(cluster),
      profile_(profile),
      valid_rows_(program),
      row_traffic_(program, valid_rows_),
      places_(program.groups.size()) {
  groups_.update(program);
  if (cluster != nullptr && program.num_ranks > cluster->num_gpus()) {
    throw Error(
        fmt::format("program '{}' has {} ranks, cluster '{}' only {} GPUs; give a larger one",
                    visible_in_line(program.name),
                    program.num_ranks,
                    visible_in_line(cluster->name),
                    cluster->num_gpus()));
  }
  if (cluster != nullptr && profile != nullptr) {
    collective_costs_.emplace(program_, *cluster_, *profile_, valid_rows_);
  }
}

bool TaskCosts::depends_on_rank(const Task& task) const {
  if (std::holds_alternative<Collective>(task.descriptor)) {
    return collective_costs_.has_value() && collective_costs_->depends_on_rank(task);
  }
  return !valid_rows_.all_full() && !task.reads.empty();
}

Time TaskCosts::duration(const Task& task, int rank) {
  if (!program_.jitter || !computes(task.descriptor)) {
    return mean_duration(task, rank);
  }
  return scaled(work_duration(task, rank), slowdown(program_, task, rank), task);
}

Time TaskCosts::mean_duration(const Task& task, int rank) {
  if (const auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
    return fixed_duration(*fixed, task, rank);
  }
  if (std::holds_alternative<HostWait>(task.descriptor)) {
    return Time::zero();
  }
  return scaled(work_duration(task, rank), mean_slowdown(program_, task, rank), task);
}

Time TaskCosts::fixed_duration(const Fixed& fixed, const Task& task, int rank) const {
  return program_.rank_scale.empty() ? fixed.time
                                     : scaled(fixed.time, program_.rank_scale[rank], task);
}

Time TaskCosts::work_duration(const Task& task, int rank) {
  if (profile_ == nullptr) {
    throw Error(fmt::format("task '{}' ({}) needs measured costs; give a profile and a cluster",
                            visible_in_line(task.name),
                            descriptor_name(task.descriptor)));
  }
  const Work work = work_of(program_, task, depends_on_rank(task) ? valid_share(task, rank) : 1);
  if (const OperationCost* cost = operation_cost(*profile_, task)) {
    return checked_time(operation_seconds(*cost, work), task.name);
  }
  double seconds = 0;
  if (work.num_gemms > 0 || work.flops > 0) {
    if (profile_->gemm.has_value()) {
      seconds += work.num_gemms * profile_->gemm->startup_seconds +
                 work.flops * profile_->gemm->seconds_per_flop;
    } else {
      note("the profile has no GEMM figures: matrix products take no time");
    }
  }
  if (work.memory_bytes > 0) {
    if (profile_->memory_bytes_per_second.has_value()) {
      seconds += work.memory_bytes / *profile_->memory_bytes_per_second;
    } else {
      note("the profile has no memory rate: memory-bound work takes no time");
    }
  }
  return checked_time(seconds, task.name);
}

bool TaskCosts::differs_by_instance(const Task& task) const {
  return collective_costs_ && collective_costs_->differs_by_instance(task);
}

int TaskCosts::num_phases(const Task& task) const {
  return collective_costs_ ? collective_costs_->num_phases(task) : 1;
}

CollectiveLoad TaskCosts::load(const Task& task, int rank, int phase) {
  const auto& collective = std::get<Collective>(task.descriptor);
  const int instance = groups_.instance(collective.group, rank);
  CHECK(instance != kNone, "rank {} runs '{}' outside its group", rank, task.name);
  const Group& group = program_.groups[collective.group];
  if (group.members[instance].size() == 1) {
    return {};
  }
  if (!collective_costs_.has_value()) {
    throw Error(fmt::format("collective '{}' over '{}' needs a cluster and a profile; give both",
                            visible_in_line(task.name),
                            visible_in_line(group.name)));
  }
  const CollectiveLoad load =
      collective_costs_->load(task,
                              Member{.ranks = &group.members[instance],
                                     .index = groups_.index(collective.group, rank),
                                     .place = places(collective.group)[rank]},
                              phase);
  collect_collective_assumptions();
  return load;
}

Time TaskCosts::alone(const Task& task, int rank) {
  const int instance = groups_.instance(std::get<Collective>(task.descriptor).group, rank);
  Time sum;
  for (int phase = 0; phase < num_phases(task); ++phase) {
    sum += phase_alone(task, instance, phase);
  }
  return sum;
}

Time TaskCosts::phase_alone(const Task& task, int instance, int phase) {
  const auto& collective = std::get<Collective>(task.descriptor);
  const bool is_by_place = !depends_on_rank(task) && !differs_by_instance(task);
  Time startup;
  Time transfer;
  MemberPlace last;  // at first that of a member alone, whose load is zero
  for (const int member : program_.groups[collective.group].members[instance]) {
    const MemberPlace here = place(collective, member);
    if (here == last && is_by_place) {
      continue;
    }
    last = here;
    const CollectiveLoad share = load(task, member, phase);
    startup = std::max(startup, share.startup);
    transfer = std::max(transfer, share.alone() - share.startup);
  }
  return startup + std::max(transfer, busiest_link(task, phase));
}

int TaskCosts::num_media() const {
  return has_links() ? static_cast<int>(cluster_->links->topology.media().size()) : 0;
}

std::shared_ptr<const GroupLoads> TaskCosts::link_loads(const Task& task, int phase) const {
  return collective_costs_ ? collective_costs_->link_loads(task, phase) : nullptr;
}

CollectiveCosts::LinkKey TaskCosts::link_key(const Task& task, int phase) const {
  CHECK(collective_costs_.has_value());
  return collective_costs_->link_key(task, phase);
}

std::set<CollectiveCosts::MeasuredPart> TaskCosts::measured_parts(const Task& task,
                                                                  int phase) const {
  CHECK(collective_costs_.has_value());
  return collective_costs_->measured_parts(task, phase);
}

std::vector<MemberFlow> TaskCosts::messages(const Task& task, int instance, int phase) const {
  CHECK(collective_costs_.has_value());
  return collective_costs_->messages(task, instance, phase);
}

void TaskCosts::for_each_way(const std::vector<int>& members,
                             const std::vector<MemberFlow>& messages,
                             const CollectiveTraffic::VisitWay& visit) const {
  CHECK(collective_costs_.has_value());
  collective_costs_->for_each_way(members, messages, visit);
}

// Of all instances of the group together.
Time TaskCosts::busiest_link(const Task& task, int phase) const {
  const std::shared_ptr<const GroupLoads> loads = link_loads(task, phase);
  if (loads == nullptr) {
    return Time::zero();
  }
  const auto bytes = static_cast<double>(std::get<Collective>(task.descriptor).bytes);
  return checked_time(loads->busiest * (depends_on_rank(task) ? 1 : bytes), task.name);
}

MemberPlace TaskCosts::place(const Collective& collective, int rank) {
  const int instance = groups_.instance(collective.group, rank);
  if (instance == kNone) {
    return {.size = 0};
  }
  const MemberPlace& place = places(collective.group)[rank];
  if (collective.operation != CollectiveOperation::kShift || cluster_ == nullptr) {
    return place;
  }
  return shift_place(*cluster_,
                     program_.groups[collective.group].members[instance],
                     groups_.index(collective.group, rank),
                     collective,
                     place);
}

const std::vector<MemberPlace>& TaskCosts::places(int group) {
  std::vector<MemberPlace>& places = places_[group];
  if (!places.empty()) {
    return places;
  }
  places.resize(program_.num_ranks);
  for (const std::vector<int>& members : program_.groups[group].members) {
    const std::vector<MemberPlace> found =
        cluster_ != nullptr
            ? places_of(*cluster_, members)
            : std::vector<MemberPlace>(members.size(),
                                       MemberPlace{.size = static_cast<int>(members.size())});
    for (std::size_t index = 0; index < members.size(); ++index) {
      places[members[index]] = found[index];
    }
  }
  return places;
}

void TaskCosts::note(const char* assumption) {
  if (std::find(assumptions_.begin(), assumptions_.end(), assumption) == assumptions_.end()) {
    assumptions_.emplace_back(assumption);
  }
}

void TaskCosts::collect_collective_assumptions() {
  const std::vector<std::string>& made = collective_costs_->assumptions();
  for (; num_collected_ < made.size(); ++num_collected_) {
    assumptions_.push_back(made[num_collected_]);
  }
}

// The share of a task's rows that hold tokens, of the first region for which that is not all.
double TaskCosts::valid_share(const Task& task, int rank) {
  for (const auto* regions : {&task.reads, &task.writes}) {
    for (const Region& region : *regions) {
      const int64_t rows = region.num_list_rows();
      const int64_t valid = row_traffic_.valid_rows(region, rank);
      if (valid < rows) {
        return static_cast<double>(valid) / static_cast<double>(rows);
      }
    }
  }
  return 1;
}

}  // namespace moesim
