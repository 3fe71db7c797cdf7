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
  find_attachments();
}

// Removed links keep their NIC's number, so that the others keep their ways.
void FabricPaths::find_attachments() {
  std::map<int, int> number_of;  // of elements
  for (const int nic : topology_.nics()) {
    number_of[nic] = static_cast<int>(attachments_.size());
    attachments_.emplace_back();
  }
  std::map<int, int> on_leaf;
  int most = 0;
  for (int link = 0; link < std::ssize(topology_.links()); ++link) {
    const Link& up = topology_.links()[link];
    if (up.kind != LinkKind::kNetwork || up.from >= first_switch_) {
      continue;
    }
    const int place = on_leaf[up.to]++;
    most = std::max(most, place + 1);
    attachments_[number_of.at(up.from)] = {up.to, topology_.rate(link) > 0 ? link : kNone, place};
  }
  for (Attachment& of : attachments_) {
    if (of.leaf != kNone) {
      of.number += topology_.elements()[of.leaf].index * most;
    }
  }
}

void FabricPaths::append(const NicPair& pair, double share, Route& route) const {
  make_room();
  const Attachment& from = attachments_[pair.from];
  const Attachment& to = attachments_[pair.to];
  if (from.up == kNone || to.up == kNone) {
    fail(topology_.nics()[pair.from], topology_.nics()[pair.to]);
  }
  route.push_back({from.up, share});
  if (fabric_.routing == FabricRouting::kSpray) {
    for (const Hop& hop : sprayed(from.leaf, to.leaf)) {
      route.push_back({hop.link, hop.share * share});
    }
  } else {
    const Distances& distances = distances_to(to.leaf);
    for (int element = from.leaf; element != to.leaf;) {
      const std::vector<int> ways = next_links(element, distances);
      if (ways.empty()) {
        fail(element, to.leaf);
      }
      const int link = chosen(ways, element, pair);
      route.push_back({link, share});
      element = topology_.links()[link].to;
    }
  }
  route.push_back({to.up ^ 1, share});
}

// What is known may be found again.
void FabricPaths::make_room() const {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  if (bytes_ > kMostBytes) {
    distances_.clear();
    sprayed_.clear();
    bytes_ = 0;
  }
}

const Route& FabricPaths::sprayed(int from_leaf, int to_leaf) const {
  const auto [found, is_new] = sprayed_.try_emplace({from_leaf, to_leaf});
  if (is_new) {
    found->second = spray(from_leaf, to_leaf);
    bytes_ += found->second.size() * sizeof(Hop);
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

int FabricPaths::chosen(const std::vector<int>& ways, int element, const NicPair& pair) const {
  if (fabric_.routing == FabricRouting::kHash) {
    const auto pairs_number =
        (static_cast<std::uint64_t>(pair.from) << 32) | static_cast<unsigned>(pair.to);
    const Random pairs_own(fabric_.seed, pairs_number);
    return ways[Random(Random(pairs_own).next(), static_cast<std::uint64_t>(element)).next() %
                ways.size()];
  }
  const int stride = topology_.elements()[element].stride;
  const int number = attachments_[pair.to].number;
  return ways[stride > 0 ? static_cast<size_t>(number / stride) % ways.size() : 0];
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
  bytes_ += distances.size() * sizeof(std::uint16_t);
  distances[leaf - first_switch_] = 0;
  std::vector<int> reached = {leaf};
  for (size_t i = 0; i < reached.size(); ++i) {
    const std::uint16_t away = distances[reached[i] - first_switch_];
    for (const int link : topology_.out(reached[i])) {
      const int to = topology_.links()[link].to;
      if (to >= first_switch_ && distances[to - first_switch_] == kFar) {
        if (away + 1 == kFar) {
          throw Error(fmt::format("{} is {} links and more away from {}; make the fabric smaller",
                                  name(topology_.elements()[to]),
                                  kFar,
                                  name(topology_.elements()[leaf])));
        }
        distances[to - first_switch_] = static_cast<std::uint16_t>(away + 1);
        reached.push_back(to);
      }
    }
  }
  return distances;
}

}  // namespace moesim
