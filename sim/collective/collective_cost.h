#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/collective/bottleneck_links.h"
#include "sim/collective/link_loads.h"
#include "sim/collective/member_place.h"
#include "sim/collective/row_traffic.h"
#include "sim/collective/tariff.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// A GPU's ports: one into its node and one between nodes, each way.
enum class Port { kIntraOut, kIntraIn, kInterOut, kInterIn };
inline constexpr int kNumPorts = 4;

// What a collective costs on one rank: the start-up time, then exclusive use of each port for
// `load[port]`, and at the same time `of_its_own`, which nobody shares. Alone, it takes startup +
// the longest of these. On a port that k collectives use at once, each drains in proportion to its
// weight.
struct CollectiveLoad {
  Time startup;
  std::array<Time, kNumPorts> load{};
  Time of_its_own;
  double weight = 1;

  Time alone() const;

  friend bool operator==(const CollectiveLoad&, const CollectiveLoad&) = default;
};

// What one member of a group instance sends to another, as indices in the instance.
struct Message {
  int from = 0;
  int to = 0;
  double bytes = 0;
};

// Turns collectives into loads from the profile's figures, or, where it has none, from the
// cluster's port rates; where the cluster has links, those carry the bytes, and only what the
// profile measured loads the ports (docs/model.md). Notes every assumption it had to make once.
// Keeps references to its arguments.
class CollectiveCosts {
 public:
  CollectiveCosts(const Program& program,
                  const Cluster& cluster,
                  const Profile& profile,
                  const ValidRows& valid_rows);

  // False when equal places give equal loads. Else a member's load follows from what a routing
  // sends its way: through the valid rows of the task's regions or, without regions, directly.
  bool depends_on_rank(const Task& task) const;

  // The load of a collective task on `members[index]` of one group instance; zero for a group of
  // one.
  CollectiveLoad load(const Task& task, const std::vector<int>& members, int index) const;

  // The same without looking for the member's place.
  CollectiveLoad load(const Task& task, const Member& member) const;

  // The messages of one instance of a collective task's group, with their bytes: for each byte of
  // the task, or in all where `depends_on_rank`. None of no bytes.
  std::vector<Message> messages(const Task& task, int instance) const;

  // What a collective task's messages put on links: seconds for each byte of the task, or in all
  // where `depends_on_rank`. Null where the cluster has no links.
  std::shared_ptr<const GroupLoads> link_loads(const Task& task) const;

  const std::vector<std::string>& assumptions() const;

 private:
  // A tariff once made, and whether its use beyond the measured sizes has been noted.
  struct CachedTariff {
    CollectiveOperation operation{};
    MemberPlace place;
    Tariff tariff;
    bool extrapolated = false;
  };
  using PortBytes = std::array<double, kNumPorts>;
  // Collectives with equal keys that do not depend on the rank have the same link loads. The second
  // part is the task's bytes where the loads are not in proportion to them, else 0.
  using LinkKey = std::pair<TrafficKey, std::int64_t>;
  // So have unequal ones: the regions, and bytes, of the task and of their rows, or, without
  // regions, bytes and routing.
  using UnequalKey =
      std::tuple<TrafficKey, std::array<RowTraffic::RegionKey, 2>, std::array<std::int64_t, 3>>;

  CachedTariff& tariff(CollectiveOperation operation, MemberPlace place) const;
  CollectiveLoad priced(const Collective& collective,
                        const Member& member,
                        const PortBytes& bytes) const;
  void note(const std::string& assumption) const;
  void note_extrapolation(const PortPrice& price, double bytes, CachedTariff& cached) const;

  PortBytes valid_bytes(const Task& task, const Member& member) const;
  PortBytes exchange_bytes(const Task& task, const Member& member) const;
  PortBytes routed_bytes(const Task& task, const Member& member) const;
  // Bytes from one member to each of an all-to-all of unequal parts.
  using SentBytes = std::function<std::vector<double>(int)>;
  SentBytes sent_bytes(const Task& task, const std::vector<int>& members) const;
  // Nominal bytes of another collective as if everyone moved what the fullest member does.
  double fullest_bytes(const Task& task, const std::vector<int>& members) const;
  UnequalKey unequal_key(const Task& task) const;
  LinkKey link_key(const Task& task) const;
  std::shared_ptr<const GroupLoads> loads_at_bottleneck(const PortPrice& price,
                                                        const Task& task) const;
  std::vector<MediumLoad> unequal_link_loads(const Task& task, int instance) const;
  GroupLoads unequal_group_loads(const Task& task) const;
  bool is_on_links(const CachedTariff& cached, const PortPrice& price) const;
  const PortPrice* price_on_links(const Collective& collective) const;

  const Program* program_;
  const Cluster* cluster_;
  const Profile* profile_;
  const ValidRows* valid_rows_;
  std::optional<LinkLoads> links_;
  std::optional<BottleneckLinks> bottlenecks_;
  mutable std::map<LinkKey, std::shared_ptr<const GroupLoads>> at_bottlenecks_;
  mutable RowTraffic row_traffic_;
  mutable std::map<UnequalKey, std::shared_ptr<const GroupLoads>> unequal_loads_;
  mutable std::deque<CachedTariff> tariffs_;
  mutable std::vector<std::string> assumptions_;
};

}  // namespace moesim
