#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/collective/algorithm_plan.h"
#include "sim/collective/bottleneck_links.h"
#include "sim/collective/collective_traffic.h"
#include "sim/collective/member_place.h"
#include "sim/collective/port.h"
#include "sim/collective/row_traffic.h"
#include "sim/collective/tariff.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// What a phase of a collective costs on one rank: the start-up time, then exclusive use of each
// port for `load[port]`, and at the same time `of_its_own`, which nobody shares. Alone, it takes
// startup + the longest of these. On a port that k collectives use at once, each drains in
// proportion to its weight.
struct CollectiveLoad {
  Time startup;
  std::array<Time, kNumPorts> load{};
  Time of_its_own;
  double weight = 1;

  Time alone() const;

  friend bool operator==(const CollectiveLoad&, const CollectiveLoad&) = default;
};

// Turns collectives into loads from the profile's figures, or, where it has none, from the
// cluster's port rates; where the cluster has links, those carry the bytes, and only what the
// profile measured loads the ports (docs/model.md). A collective is carried out by the algorithm
// that the profile chooses for it, in phases that follow each other. Notes every assumption and
// every choice once. Keeps references to its arguments. Throws Error where an algorithm does not
// fit.
class CollectiveCosts {
 public:
  CollectiveCosts(const Program& program,
                  const Cluster& cluster,
                  const Profile& profile,
                  const ValidRows& valid_rows);

  // See CollectiveTraffic.
  bool depends_on_rank(const Task& task) const { return traffic_.depends_on_rank(task); }

  // Whether members in equal places may have different loads although counts of tokens are equal:
  // what an algorithm sends, or the largest message, may differ between instances.
  bool differs_by_instance(const Task& task) const;

  int num_phases(const Task& task) const;

  // The load of a phase on `members[index]` of one group instance; zero for a group of one.
  CollectiveLoad load(const Task& task, const std::vector<int>& members, int index) const;

  // The same without looking for the member's place.
  CollectiveLoad load(const Task& task, const Member& member, int phase = 0) const;

  // The messages of a phase in one instance of the group, and their ways: see CollectiveTraffic.
  std::vector<MemberFlow> messages(const Task& task, int instance, int phase) const;
  void for_each_way(const std::vector<int>& members,
                    const std::vector<MemberFlow>& messages,
                    const CollectiveTraffic::VisitWay& visit) const {
    traffic_.for_each_way(members, messages, visit);
  }

  // What the messages of a phase put on links: seconds for each byte of the task, or in all where
  // `depends_on_rank`. Null where the cluster has no links.
  std::shared_ptr<const GroupLoads> link_loads(const Task& task, int phase) const;

  // Of the times that a profile has measured: whose span it is, and whether all of it can be spent
  // on links (`bottleneck: LINK`) instead of a port.
  struct MeasuredPart {
    Span span = Span::kNode;
    bool may_be_on_links = false;

    friend auto operator<=>(const MeasuredPart&, const MeasuredPart&) = default;
  };

  // The measured times that a phase of a collective takes, over all instances of its group.
  std::set<MeasuredPart> measured_parts(const Task& task, int phase) const;

  // Phases of collectives with equal keys that do not depend on the rank have the same link loads.
  // The second part is the task's bytes where the loads are not in proportion to them, else 0.
  using LinkKey = std::pair<TrafficKey, std::int64_t>;
  LinkKey link_key(const Task& task, int phase) const;

  const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  // A tariff once made, and whether its use beyond the measured sizes has been noted.
  struct CachedTariff {
    CollectiveOperation operation{};
    Algorithm algorithm{};
    MemberPlace place;
    Tariff tariff;
    bool extrapolated = false;
  };
  // Group, operation, top_k, num_experts, and bytes where FASTEST may choose.
  using PlanKey = std::tuple<int, int, int, int, std::int64_t>;

  const AlgorithmPlan& plan(const Task& task) const;
  AlgorithmPlan make_plan_for(const Task& task) const;
  Algorithm fastest(const Task& task, const GroupShape& shape) const;
  Time alone(const Task& task) const;

  CollectiveLoad load_of(const AlgorithmPlan& plan,
                         int phase,
                         const Task& task,
                         const Member& member) const;
  PortBytes priced_bytes(const AlgorithmPlan& plan,
                         int phase,
                         const Task& task,
                         const Member& member) const;
  CachedTariff& tariff(CollectiveOperation operation, Algorithm algorithm, MemberPlace place) const;
  CollectiveLoad priced(CollectiveOperation operation,
                        CachedTariff& cached,
                        const MemberPlace& place,
                        const PortBytes& bytes) const;
  void limit_messages(CollectiveLoad& load,
                      const Tariff& tariff,
                      const FlowStep& step,
                      const Task& task,
                      const Member& member) const;
  void note(const std::string& assumption) const;
  void note_extrapolation(const PortPrice& price, double bytes, CachedTariff& cached) const;

  // A price that is spent on links, for this share of a collective's nominal bytes.
  struct PriceOnLinks {
    const PortPrice* price = nullptr;
    double share = 1;
  };
  CachedTariff& tariff_of(const AlgorithmPlan& plan, int phase, const MemberPlace& place) const;
  bool may_be_on_links(const CachedTariff& cached, const PortPrice& price) const;
  bool is_on_links(const CachedTariff& cached, const PortPrice& price) const;
  std::optional<PriceOnLinks> price_on_links(const Task& task, int phase) const;

  const Program* program_;
  const Cluster* cluster_;
  const Profile* profile_;
  const ValidRows* valid_rows_;
  CollectiveTraffic traffic_;
  std::optional<BottleneckLinks> bottlenecks_;  // where the cluster has links
  bool only_default_ = true;                    // the profile chooses no algorithm
  bool may_be_fastest_ = false;
  bool has_peer_rates_ = false;
  bool spends_on_links_ = false;  // some entry does, and the cluster has links
  using SpentKey = std::tuple<LinkKey, const GroupLoads*>;
  mutable std::map<SpentKey, std::shared_ptr<const GroupLoads>> at_bottlenecks_;
  mutable std::map<PlanKey, AlgorithmPlan> plans_;
  mutable std::deque<CachedTariff> tariffs_;
  mutable std::vector<std::string> assumptions_;
};

}  // namespace moesim
