#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sim/cluster/cluster_links.h"
#include "sim/io/profile.h"

namespace moesim {

// Collectives whose measured time is spent on links that the profile names (`bottleneck: LINK`):
// these are full meanwhile, whatever rate the cluster gives them. Keeps a reference to the links.
class BottleneckLinks {
 public:
  explicit BottleneckLinks(const ClusterLinks& links) : links_(links) {}

  // Throws Error at the entry where it names no links.
  static void check(const CollectiveCost& entry);

  // By how much loads on the entry's links must be multiplied so that `loads`, of all instances
  // together, take `seconds` on the busiest of them; of instances whose links are not alike, on
  // that of the fastest. Less than 1 where the links are slower than that. Throws Error at the
  // entry where the loads put nothing there.
  double factor(const CollectiveCost& entry, const GroupLoads& loads, double seconds) const;

  // The loads, those on the entry's links multiplied, where that makes them longer: nobody is
  // faster than the links.
  std::shared_ptr<const GroupLoads> multiplied(const CollectiveCost& entry,
                                               const GroupLoads& loads,
                                               double factor) const;

 private:
  const std::vector<bool>& media_of(const CollectiveCost& entry) const;

  const ClusterLinks& links_;
  mutable std::map<const CollectiveCost*, std::vector<bool>> media_;
};

}  // namespace moesim
