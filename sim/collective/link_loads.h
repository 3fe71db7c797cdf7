#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sim/cluster/cluster_links.h"
#include "sim/collective/flows.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"

namespace moesim {

// Group, operation, distance, wrap, root, algorithm, phase, top_k, num_experts, combine: balanced
// collectives with equal keys load links alike.
using TrafficKey = std::tuple<int, int, int, bool, int, int, int, int, int, bool>;
TrafficKey traffic_key(const Collective& collective, const FlowStep& step = {});

// The loads of all instances, with the busiest of their media.
GroupLoads group_loads(std::vector<std::vector<MediumLoad>> of_instance, int num_media);

// The nodes of a group instance's members.
std::vector<int> nodes_of(const Cluster& cluster, const std::vector<int>& members);

// What collectives put on the links of a cluster that has them. Keeps references to its arguments.
class LinkLoads {
 public:
  LinkLoads(const Program& program, const Cluster& cluster);

  // Of one phase of a balanced collective: seconds for each nominal byte.
  std::shared_ptr<const GroupLoads> of(const Collective& collective, const FlowStep& step) const;

  // Of messages among the members of one instance, in bytes: seconds.
  using ForAll = std::function<void(const VisitFlow&)>;
  std::vector<MediumLoad> of_messages(const std::vector<int>& members,
                                      const Seating& seating,
                                      const ForAll& for_all) const;

  // The way of a message among the members. Valid until the next call.
  const Route& way(const std::vector<int>& members,
                   const Seating& seating,
                   const MemberFlow& flow) const;

  // Whether a message from one rank to another of its node passes an NVSwitch.
  bool pass_switch(int from, int to) const;

 private:
  std::shared_ptr<const GroupLoads> find_or_make(const Collective& collective,
                                                 const FlowStep& step) const;
  std::vector<MediumLoad> make(const Collective& collective,
                               const FlowStep& step,
                               int instance) const;
  void add_to_link(int link, double bytes) const;
  std::vector<MediumLoad> take() const;

  const Program& program_;
  const Cluster& cluster_;
  const ClusterLinks& links_;
  mutable std::map<TrafficKey, std::shared_ptr<const GroupLoads>> asked_;  // by this Program
  mutable std::vector<std::int64_t> units_;  // by medium, while adding
  mutable std::vector<int> touched_;
  mutable Route route_;
};

}  // namespace moesim
