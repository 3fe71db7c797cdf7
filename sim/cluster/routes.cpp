#include "sim/cluster/routes.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {

Routes::Routes(const Topology& topology, const Wiring& wiring)
    : topology_(topology),
      wiring_(wiring),
      gpus_per_node_(static_cast<int>(topology.gpus().size() / topology.nodes().size())),
      fabric_(topology, wiring.fabric),
      first_of_group_(wiring.nodes.size(), kNone),
      first_nic_(topology.nodes().size(), 0) {
  for (int node = 0; node < std::ssize(topology.nodes()); ++node) {
    int& first = first_of_group_[topology.nodes()[node].group];
    if (first == kNone && !topology.nodes()[node].changed) {
      first = node;
    }
  }
  for (size_t i = topology.nics().size(); i-- > 0;) {
    first_nic_[topology.elements()[topology.nics()[i]].node] = static_cast<int>(i);
  }
}

Route Routes::between(int from, int to) const {
  Route route;
  find(from, to, route);
  return route;
}

void Routes::find(int from, int to, Route& route) const {
  CHECK(from != to);
  route.clear();
  const End sender = {from / gpus_per_node_, from % gpus_per_node_};
  const End receiver = {to / gpus_per_node_, to % gpus_per_node_};
  if (sender.node == receiver.node) {
    append(paths(sender.node).between(sender.gpu, receiver.gpu), sender.node, 1, route);
  } else {
    between_nodes(sender, receiver, route);
  }
}

// The message uses the NICs at both ends evenly. Its first part goes between their first NICs, and
// so on: with as many NICs, from each to the one of its place.
void Routes::between_nodes(const End& from, End to, Route& route) const {
  const auto& senders = leaving(from, to.gpu);
  const auto& receivers = nics(to.node, to.gpu);
  // Ends of their parts, in units of which the message has this many.
  const size_t whole = senders.size() * receivers.size();
  size_t done = 0;
  while (done < whole) {
    const size_t i = done / receivers.size();
    const size_t j = done / senders.size();
    const size_t end = std::min((i + 1) * receivers.size(), (j + 1) * senders.size());
    to.nic = &receivers[j];
    const double share = static_cast<double>(end - done) / static_cast<double>(whole);
    append_lane(from, *beside(from, senders[i].nic), to, share, route);
    done = end;
  }
}

void Routes::append_lane(
    const End& from, const End& left, const End& to, double share, Route& route) const {
  if (left.gpu != from.gpu) {
    append(paths(from.node).between(from.gpu, left.gpu), from.node, share, route);
  }
  append(left.nic->to, from.node, share, route);
  fabric_.append(
      {nic_number(from.node, left.nic->nic), nic_number(to.node, to.nic->nic)}, share, route);
  append(to.nic->from, to.node, share, route);
}

// With PXN, those of the node's own GPU that has the receiver's number, if NVLink leads there
// (NCCL, src/graph/search.cc, ncclTopoGetNetDev): the rail of the receiver's NIC where nodes are
// wired alike. Where they are not, the receiver's wiring has no say in it, so that messages to all
// GPUs of a node leave by all NICs of the sender's.
const std::vector<NodePaths::NicPath>& Routes::leaving(const End& from, int to_gpu) const {
  const auto& own = nics(from.node, from.gpu);
  if (!wiring_.transfers.pxn) {
    return own;
  }
  const auto& rail = nics(from.node, to_gpu);
  const bool is_reached = std::ranges::all_of(
      rail, [&](const NodePaths::NicPath& way) { return beside(from, way.nic).has_value(); });
  return is_reached ? rail : own;
}

std::optional<Routes::End> Routes::beside(const End& from, int nic) const {
  const NodePaths& node = paths(from.node);
  const auto end_at = [&](int gpu) -> std::optional<End> {
    const auto& ways = node.nics(gpu);
    const auto way = std::ranges::find(ways, nic, &NodePaths::NicPath::nic);
    return way == ways.end() ? std::nullopt : std::optional<End>({from.node, gpu, &*way});
  };
  std::optional<End> found = end_at(from.gpu);
  for (int gpu = 0; gpu < gpus_per_node_ && !found; ++gpu) {
    if (gpu != from.gpu && node.by_nvlink(from.gpu, gpu)) {
      found = end_at(gpu);
    }
  }
  return found;
}

const std::vector<NodePaths::NicPath>& Routes::nics(int node, int gpu) const {
  const auto& found = paths(node).nics(gpu);
  if (found.empty()) {
    throw Error(fmt::format("no NIC of node:{} reaches the fabric; join one", node));
  }
  return found;
}

int Routes::model(int node) const {
  const Topology::Node& of = topology_.nodes()[node];
  return of.changed ? node : first_of_group_[of.group];
}

const NodePaths& Routes::paths(int node) const {
  std::unique_ptr<NodePaths>& known = paths_[model(node)];
  if (known == nullptr) {
    known = std::make_unique<NodePaths>(topology_, model(node), wiring_.transfers);
  }
  return *known;
}

void Routes::append(const Route& part, int node, double share, Route& route) const {
  const int offset = topology_.nodes()[node].first_link - topology_.nodes()[model(node)].first_link;
  for (const Hop& hop : part) {
    route.push_back({hop.link + offset, hop.share * share});
  }
}

int Routes::nic_number(int node, int index) const {
  for (size_t i = static_cast<size_t>(first_nic_[node]); i < topology_.nics().size(); ++i) {
    const Element& nic = topology_.elements()[topology_.nics()[i]];
    if (nic.node == node && nic.index == index) {
      return static_cast<int>(i);
    }
  }
  CHECK(false, "no such NIC");
}

}  // namespace moesim
