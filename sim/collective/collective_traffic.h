#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/collective/algorithm_plan.h"
#include "sim/collective/exchange_flows.h"
#include "sim/collective/instance_traffic.h"
#include "sim/collective/link_loads.h"
#include "sim/collective/port.h"
#include "sim/collective/row_traffic.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// Which bytes the collectives of a Program move between whom. Keeps references to its arguments.
class CollectiveTraffic {
 public:
  CollectiveTraffic(const Program& program, const Cluster& cluster, const ValidRows& valid_rows);

  bool has_links() const { return links_.has_value(); }

  // False when equal places give equal loads. Else a member's load follows from what a routing
  // sends its way: through the valid rows of the task's regions or, without regions, directly.
  bool depends_on_rank(const Task& task) const;

  // For each port the nominal size of the balanced collective that would load it, by the default
  // algorithm, as much as this member's part does.
  PortBytes nominal(const Task& task, const Member& member) const;

  // What one phase of a task brings a member, in bytes on the wire by port; but for an ALL_TO_ALL
  // the most that any member of its instance has.
  PortBytes on_wire(const Task& task, const FlowStep& step, const Member& member) const;

  // Bytes of the largest messages of one phase between two members of the member's instance.
  LargestMessages largest(const Task& task, const FlowStep& step, const Member& member) const;

  // What a phase puts on links: seconds for each byte of the task, or in all where it depends on
  // the rank. Null where the cluster has no links.
  std::shared_ptr<const GroupLoads> link_loads(const Task& task, const FlowStep& step) const;

  // The same, of a cluster with links, as if all parts were equal: for each byte.
  std::shared_ptr<const GroupLoads> balanced_link_loads(const Task& task,
                                                        const FlowStep& step) const;

  // The messages of one phase in one instance of the group, in bytes: for each byte of the task, or
  // in all where it depends on the rank. None of no bytes.
  std::vector<MemberFlow> messages(const Task& task, const FlowStep& step, int instance) const;

  // The ways of such messages among members, in a cluster with links: visits each by its index.
  using VisitWay = std::function<void(std::size_t, const Route&)>;
  void for_each_way(const std::vector<int>& members,
                    const std::vector<MemberFlow>& messages,
                    const VisitWay& visit) const;

  // Of the task's group.
  const GroupShape& shape(const Task& task) const;

 private:
  // Equal keys have equal messages: of a balanced collective, or of one that moves these rows, of
  // so many bytes each.
  using MessagesKey = std::tuple<TrafficKey, RowTraffic::RowsKey, std::int64_t>;

  // Equal keys have equal link loads, of those that depend on the rank: with the bytes of the task,
  // and of a row that is read and one that is written.
  using UnequalKey = std::tuple<TrafficKey, RowTraffic::RowsKey, std::array<std::int64_t, 3>>;

  PortBytes valid_bytes(const Task& task, const Member& member) const;
  PortBytes exchange_bytes(const Task& task, const Member& member) const;
  PortBytes routed_bytes(const Task& task, const Member& member) const;
  bool is_unequal_exchange(const Task& task) const;
  double routed_token_bytes(const Task& task, const std::vector<int>& members) const;
  Sent sent_bytes(const Task& task, const std::vector<int>& members) const;
  std::vector<std::int64_t> sent_units(const Task& task,
                                       const std::vector<int>& members,
                                       int from) const;
  std::int64_t row_bytes(const Region& region) const;
  // Nominal bytes of another collective as if everyone moved what the fullest member does.
  double fullest_bytes(const Task& task, const std::vector<int>& members) const;
  void for_each_message(const Task& task,
                        const FlowStep& step,
                        const std::vector<int>& members,
                        const Seating& seating,
                        const VisitFlow& visit) const;
  GroupLoads unequal_group_loads(const Task& task, const FlowStep& step) const;
  std::vector<MediumLoad> unequal_link_loads(const Task& task,
                                             const FlowStep& step,
                                             int instance) const;
  InstanceTraffic make_messages(const Task& task,
                                const FlowStep& step,
                                const std::vector<int>& members) const;
  const InstanceTraffic& traffic_of(const Task& task,
                                    const FlowStep& step,
                                    const Member& member) const;
  bool joined_by_switches(const std::vector<int>& members, const Seating& seating) const;

  const Program* program_;
  const Cluster* cluster_;
  const ValidRows* valid_rows_;
  std::optional<LinkLoads> links_;
  mutable RowTraffic row_traffic_;
  // By the first member of the instance.
  mutable std::map<MessagesKey, std::map<int, InstanceTraffic>> messages_;
  mutable std::map<UnequalKey, std::shared_ptr<const GroupLoads>> unequal_loads_;
  mutable std::map<int, GroupShape> shapes_;  // by group
};

}  // namespace moesim
