#include "sim/cluster/fabric_paths.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/random.h"

namespace moesim {
namespace {

constexpr std::uint16_t kFar = std::numeric_limits<std::uint16_t>::max();

int first_switch(const Topology& topology) {
  const auto found = std::ranges::find_if(
      topology.elements(), [](const Element& element) { return element.node == kNone; });
  return static_cast<int>(found - topology.elements().begin());
}

}  // namespace

FabricPaths::FabricPaths(const Topology& topology, const FabricSpec& fabric)
    : topology_(topology), fabric_(fabric), first_switch_(first_switch(topology)) {}

void FabricPaths::append(int from_nic, int to_nic, Route& route) const {
  const int from = topology_.nics()[from_nic];
  const int to = topology_.nics()[to_nic];
  const Distances& distances = distances_to(leaf_of(to_nic));
  std::map<int, double> shares = {{from, 1}};  // all equally far from the receiver
  while (shares.begin()->first != to) {
    std::map<int, double> next;
    for (const auto& [element, share] : shares) {
      std::vector<int> ways =
          element == leaf_of(to_nic) ? std::vector<int>{} : next_links(element, distances);
      if (element == leaf_of(to_nic)) {
        for (const int link : topology_.out(element)) {
          if (topology_.links()[link].to == to) {
            ways.push_back(link);
          }
        }
      }
      if (ways.empty()) {
        throw Error(fmt::format("no way through the fabric from {} to {}; join them",
                                name(topology_.elements()[from]),
                                name(topology_.elements()[to])));
      }
      choose(element, from_nic, to_nic, ways);
      double total = 0;
      for (const int link : ways) {
        total += topology_.rate(link);
      }
      for (const int link : ways) {
        const double part = share * topology_.rate(link) / total;
        route.push_back({link, part});
        next[topology_.links()[link].to] += part;
      }
    }
    shares = std::move(next);
  }
}

void FabricPaths::choose(int element, int from_nic, int to_nic, std::vector<int>& ways) const {
  if (fabric_.routing == FabricRouting::kSpray || ways.size() == 1) {
    return;
  }
  size_t way = 0;
  if (fabric_.routing == FabricRouting::kHash) {
    const auto pair = (static_cast<std::uint64_t>(from_nic) << 32) | static_cast<unsigned>(to_nic);
    way = Random(fabric_.seed ^ Random(pair).next(), static_cast<std::uint64_t>(element)).next() %
          ways.size();
  } else if (const int stride = topology_.elements()[element].stride; stride > 0) {
    way = static_cast<size_t>(to_nic / stride) % ways.size();
  }
  ways = {ways[way]};
}

std::vector<int> FabricPaths::next_links(int element, const Distances& distances) const {
  std::vector<int> links;
  std::uint16_t least = element < first_switch_ ? kFar : distances[element - first_switch_];
  for (const int link : topology_.out(element)) {
    const int to = topology_.links()[link].to;
    if (to < first_switch_) {
      continue;
    }
    const std::uint16_t away = distances[to - first_switch_];
    if (away < least && element < first_switch_) {
      links.clear();
      least = away;
    }
    if (away != kFar && (element < first_switch_ ? away == least : away + 1 == least)) {
      links.push_back(link);
    }
  }
  return links;
}

int FabricPaths::leaf_of(int nic) const {
  for (const int link : topology_.out(topology_.nics()[nic])) {
    if (topology_.links()[link].kind == LinkKind::kNetwork) {
      return topology_.links()[link].to;
    }
  }
  throw Error(fmt::format("{} has no link into the fabric; join it",
                          name(topology_.elements()[topology_.nics()[nic]])));
}

// Breadth first, from the leaf outward: every cable has both ways, or none.
const FabricPaths::Distances& FabricPaths::distances_to(int leaf) const {
  const auto [found, is_new] = distances_.try_emplace(leaf);
  if (!is_new) {
    return found->second;
  }
  Distances& distances = found->second;
  distances.assign(topology_.elements().size() - first_switch_, kFar);
  distances[leaf - first_switch_] = 0;
  std::vector<int> reached = {leaf};
  for (size_t i = 0; i < reached.size(); ++i) {
    const std::uint16_t away = distances[reached[i] - first_switch_];
    for (const int link : topology_.out(reached[i])) {
      const int to = topology_.links()[link].to;
      if (to >= first_switch_ && distances[to - first_switch_] == kFar) {
        distances[to - first_switch_] = static_cast<std::uint16_t>(away + 1);
        reached.push_back(to);
      }
    }
  }
  return distances;
}

}  // namespace moesim
