#include "sim/collective/bottleneck_links.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cluster/link_selector.h"
#include "sim/collective/link_loads.h"
#include "sim/collective/tariff.h"

namespace moesim {

double BottleneckLinks::factor(const CollectiveCost& entry,
                               const GroupLoads& loads,
                               double seconds) const {
  const std::vector<bool>& chosen = media_of(entry);
  std::vector<double> sums(chosen.size());
  for (const std::vector<MediumLoad>& instance : loads.of_instance) {
    for (const MediumLoad& load : instance) {
      sums[load.medium] += chosen[load.medium] ? load.seconds : 0;
    }
  }
  double least = std::numeric_limits<double>::infinity();  // of instances: the fullest link
  for (const std::vector<MediumLoad>& instance : loads.of_instance) {
    double fullest = 0;
    for (const MediumLoad& load : instance) {
      fullest = std::max(fullest, sums[load.medium]);
    }
    least = fullest > 0 ? std::min(least, fullest) : least;
  }
  if (least == std::numeric_limits<double>::infinity()) {
    throw Error(entry.bottleneck_location,
                fmt::format("{} puts nothing on {}; name links that its messages take (`moesim "
                            "topology show CLUSTER --route 0,1` lists those of one)",
                            describe(entry.operation, entry.span),
                            in_quotes(entry.bottleneck_link)));
  }
  return seconds / least;
}

std::shared_ptr<const GroupLoads> BottleneckLinks::multiplied(const CollectiveCost& entry,
                                                              const GroupLoads& loads,
                                                              double factor) const {
  const std::vector<bool>& chosen = media_of(entry);
  std::vector<std::vector<MediumLoad>> of_instance = loads.of_instance;
  for (std::vector<MediumLoad>& instance : of_instance) {
    for (MediumLoad& load : instance) {
      load.seconds *= chosen[load.medium] ? std::max(1.0, factor) : 1;
    }
  }
  return std::make_shared<const GroupLoads>(
      group_loads(std::move(of_instance), static_cast<int>(chosen.size())));
}

void BottleneckLinks::check(const CollectiveCost& entry) {
  LinkSelector(entry.bottleneck_link, entry.bottleneck_location);
}

const std::vector<bool>& BottleneckLinks::media_of(const CollectiveCost& entry) const {
  auto [found, is_new] = media_.try_emplace(&entry);
  if (is_new) {
    const LinkSelector selector(entry.bottleneck_link, entry.bottleneck_location);
    found->second.resize(links_.topology.media().size());
    for (const Link& link : links_.topology.links()) {
      if (selector.matches(links_.topology, link)) {
        found->second[link.medium] = true;
      }
    }
  }
  return found->second;
}

}  // namespace moesim
