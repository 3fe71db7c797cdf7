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
    : topology_(topology), fabric_(fabric), first_switch_(first_switch(topology)) {
  for (const int nic : topology.nics()) {
    attachments_.push_back(attachment(nic));
  }
}

FabricPaths::Attachment FabricPaths::attachment(int nic) const {
  Attachment found;
  for (const int link : topology_.out(nic)) {
    if (topology_.links()[link].kind == LinkKind::kNetwork) {
      found = {topology_.links()[link].to, link, kNone};
    }
  }
  if (found.leaf != kNone) {
    found.down = found.up ^ 1;  // a cable's two ways follow each other
  }
  return found;
}

void FabricPaths::append(int from_nic, int to_nic, Route& route) const {
  const Attachment& from = attachments_[from_nic];
  const Attachment& to = attachments_[to_nic];
  if (from.leaf == kNone || to.leaf == kNone) {
    fail(topology_.nics()[from_nic], topology_.nics()[to_nic]);
  }
  route.push_back({from.up, 1});
  if (fabric_.routing == FabricRouting::kSpray) {
    const Route& between = sprayed(from.leaf, to.leaf);
    route.insert(route.end(), between.begin(), between.end());
  } else {
    const Distances& distances = distances_to(to.leaf);
    for (int element = from.leaf; element != to.leaf;) {
      const std::vector<int> ways = next_links(element, distances);
      if (ways.empty()) {
        fail(element, to.leaf);
      }
      const int link = chosen(ways, element, from_nic, to_nic);
      route.push_back({link, 1});
      element = topology_.links()[link].to;
    }
  }
  route.push_back({to.down, 1});
}

const Route& FabricPaths::sprayed(int from_leaf, int to_leaf) const {
  const auto [found, is_new] = sprayed_.try_emplace({from_leaf, to_leaf});
  if (is_new) {
    found->second = spray(from_leaf, to_leaf);
  }
  return found->second;
}

// Switches that are equally far from the receiver have parts of the message at the same time.
Route FabricPaths::spray(int from_leaf, int to_leaf) const {
  const Distances& distances = distances_to(to_leaf);
  Route route;
  std::map<int, double> shares = {{from_leaf, 1}};
  while (shares.begin()->first != to_leaf) {
    std::map<int, double> next;
    for (const auto& [element, share] : shares) {
      const std::vector<int> ways = next_links(element, distances);
      if (ways.empty()) {
        fail(element, to_leaf);
      }
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
  return route;
}

int FabricPaths::chosen(const std::vector<int>& ways, int element, int from_nic, int to_nic) const {
  if (fabric_.routing == FabricRouting::kHash) {
    const auto pair = (static_cast<std::uint64_t>(from_nic) << 32) | static_cast<unsigned>(to_nic);
    const Random pairs_own(fabric_.seed, pair);
    return ways[Random(Random(pairs_own).next(), static_cast<std::uint64_t>(element)).next() %
                ways.size()];
  }
  const int stride = topology_.elements()[element].stride;
  return ways[stride > 0 ? static_cast<size_t>(to_nic / stride) % ways.size() : 0];
}

// Those to a switch that is one step nearer.
std::vector<int> FabricPaths::next_links(int element, const Distances& distances) const {
  std::vector<int> links;
  for (const int link : topology_.out(element)) {
    const int to = topology_.links()[link].to;
    if (to >= first_switch_ &&
        distances[to - first_switch_] + 1 == distances[element - first_switch_]) {
      links.push_back(link);
    }
  }
  return links;
}

void FabricPaths::fail(int from, int to) const {
  throw Error(fmt::format("no way through the fabric from {} to {}; join them",
                          name(topology_.elements()[from]),
                          name(topology_.elements()[to])));
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
