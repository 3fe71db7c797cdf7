#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/cluster/routes.h"
#include "sim/cluster/topology.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"

namespace moesim {

// How long a collective would occupy a medium alone: for each of its nominal bytes, or in all.
struct MediumLoad {
  int medium = 0;
  double seconds = 0;

  friend bool operator==(const MediumLoad&, const MediumLoad&) = default;
};

// Group, operation, distance, wrap, root: balanced collectives with equal keys load links alike.
using TrafficKey = std::tuple<int, int, int, bool, int>;
TrafficKey traffic_key(const Collective& collective);

// What balanced collectives put on the links of a cluster that has a topology. Remembers what it
// was asked; keeps references to its arguments.
class LinkLoads {
 public:
  LinkLoads(const Program& program, const Cluster& cluster);

  // Of one instance of the collective's group, for each nominal byte, media ascending.
  const std::vector<MediumLoad>& of(const Collective& collective, int instance) const;

  // The same for what `sent` says, in bytes from the i-th member to the j-th: seconds, not per
  // byte.
  template <typename Sent>
  std::vector<MediumLoad> of_exchange(const std::vector<int>& members, const Sent& sent) const {
    const auto size = static_cast<int>(members.size());
    for (int from = 0; from < size; ++from) {
      for (int to = 0; to < size; ++to) {
        if (const double bytes = sent(from, to); from != to && bytes > 0) {
          add(members[from], members[to], bytes);
        }
      }
    }
    return take();
  }

 private:
  std::vector<MediumLoad> make(const Collective& collective, int instance) const;
  void add(int from, int to, double bytes) const;
  std::vector<MediumLoad> take() const;

  const Program& program_;
  const Cluster& cluster_;
  const Topology& topology_;
  Routes routes_;
  mutable std::map<TrafficKey, std::vector<std::vector<MediumLoad>>> known_;  // by instance
  mutable std::vector<std::int64_t> units_;  // by medium, while adding
  mutable std::vector<int> touched_;
  mutable Route route_;
};

}  // namespace moesim
