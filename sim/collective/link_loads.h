#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sim/cluster/cluster_links.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"

namespace moesim {

// Group, operation, distance, wrap, root: balanced collectives with equal keys load links alike.
using TrafficKey = std::tuple<int, int, int, bool, int>;
TrafficKey traffic_key(const Collective& collective);

// The loads of all instances, with the busiest of their media.
GroupLoads group_loads(std::vector<std::vector<MediumLoad>> of_instance, int num_media);

// What collectives put on the links of a cluster that has them. Keeps references to its arguments.
class LinkLoads {
 public:
  LinkLoads(const Program& program, const Cluster& cluster);

  // Of a balanced collective: seconds for each nominal byte.
  std::shared_ptr<const GroupLoads> of(const Collective& collective) const;

  // Of one instance whose i-th member sends sent(i)[j] bytes to the j-th: seconds.
  template <typename Sent>
  std::vector<MediumLoad> of_exchange(const std::vector<int>& members, const Sent& sent) const {
    const auto size = static_cast<int>(members.size());
    for (int from = 0; from < size; ++from) {
      const std::vector<double> bytes = sent(from);
      for (int to = 0; to < size; ++to) {
        if (from != to && bytes[to] > 0) {
          add(members[from], members[to], bytes[to]);
        }
      }
    }
    return take();
  }

 private:
  std::shared_ptr<const GroupLoads> find_or_make(const Collective& collective) const;
  std::vector<MediumLoad> make(const Collective& collective, int instance) const;
  void add(int from, int to, double bytes) const;
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
