#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/collective/collective_cost.h"
#include "sim/collective/row_traffic.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/program/group_table.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// Throws Error where the tasks take more than 100 days together: their sums could overflow.
void check_total(const std::vector<Time>& durations);

// What each task of a Program costs on each rank. Without cluster or profile only fixed tasks, host
// waits and collectives of one rank have a cost; another throws Error. Keeps references to its
// arguments.
class TaskCosts {
 public:
  // Throws Error when the Program has more ranks than the cluster GPUs.
  TaskCosts(const Program& program, const Cluster* cluster, const Profile* profile);
  ~TaskCosts() = default;
  TaskCosts(const TaskCosts&) = delete;
  TaskCosts(TaskCosts&&) = delete;
  TaskCosts& operator=(const TaskCosts&) = delete;
  TaskCosts& operator=(TaskCosts&&) = delete;

  const Program& program() const { return program_; }
  const GroupTable& groups() const { return groups_; }

  // Whether a task's cost differs between ranks by more than rank_scale, rank_speed and jitter and,
  // for a collective, the place of the rank in its group.
  bool depends_on_rank(const Task& task) const;

  // How long a task that is no collective runs alone:
  //   fixed: its time, times the rank's scale (nearest ps)
  //   with a figure of the profile for the operation and pass:
  //          startup + flops * seconds_per_flop + memory_bytes * seconds_per_byte
  //   else:  num_gemms * startup + flops * seconds_per_flop + memory_bytes / memory rate
  // An operation's is divided by the rank's speed and multiplied by its jitter.
  Time duration(const Task& task, int rank);

  // The same without jitter.
  Time mean_duration(const Task& task, int rank);

  // Whether members of a collective may have different loads in equal places although its cost
  // does not depend on the rank: see CollectiveCosts.
  bool differs_by_instance(const Task& task) const;

  // The parts of a collective, one after the other, and what each loads on a member.
  int num_phases(const Task& task) const;
  CollectiveLoad load(const Task& task, int rank, int phase = 0);

  // Whether collectives put loads on links of the cluster.
  bool has_links() const { return collective_costs_ && cluster_->links != nullptr; }
  int num_media() const;

  // What the messages of a collective's phase put on links, and what decides it: see
  // CollectiveCosts.
  std::shared_ptr<const GroupLoads> link_loads(const Task& task, int phase = 0) const;
  CollectiveCosts::LinkKey link_key(const Task& task, int phase) const;
  std::set<CollectiveCosts::MeasuredPart> measured_parts(const Task& task, int phase) const;

  // The messages of a phase in one instance of a collective, and their ways: see CollectiveCosts.
  std::vector<MemberFlow> messages(const Task& task, int instance, int phase) const;
  void for_each_way(const std::vector<int>& members,
                    const std::vector<MemberFlow>& messages,
                    const CollectiveTraffic::VisitWay& visit) const;
  const Cluster& cluster() const { return *cluster_; }  // where collectives have costs

  // Start-up and transfer of all phases of a member's whole group instance, alone but for the
  // group's other instances, which begin with it.
  Time alone(const Task& task, int rank);

  // Where a rank stands in its instance of a collective's group; outside it, size 0.
  MemberPlace place(const Collective& collective, int rank);

  // What the costs handed out so far rest on, in order of first use.
  const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  Time fixed_duration(const Fixed& fixed, const Task& task, int rank) const;
  Time work_duration(const Task& task, int rank);
  double valid_share(const Task& task, int rank);
  Time phase_alone(const Task& task, int instance, int phase);
  Time busiest_link(const Task& task, int phase) const;
  const std::vector<MemberPlace>& places(int group);
  void note(const char* assumption);
  void collect_collective_assumptions();

  const Program& program_;
  const Cluster* cluster_;
  const Profile* profile_;
  GroupTable groups_;
  ValidRows valid_rows_;
  RowTraffic row_traffic_;
  std::optional<CollectiveCosts> collective_costs_;
  std::vector<std::vector<MemberPlace>> places_;  // [group][rank]; empty until asked for
  std::vector<std::string> assumptions_;
  std::size_t num_collected_ = 0;  // of collective_costs_->assumptions()
};

}  // namespace moesim
