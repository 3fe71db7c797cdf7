#include "sim/cluster/routes.h"

#include "sim/base/check.h"

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
  const int from_node = from / gpus_per_node_;
  const int to_node = to / gpus_per_node_;
  const int from_gpu = from % gpus_per_node_;
  const int to_gpu = to % gpus_per_node_;
  if (from_node == to_node) {
    append(paths(from_node).between(from_gpu, to_gpu), from_node, route);
    return;
  }
  const int to_index = paths(to_node).nic(to_gpu);
  const int leaving = leaving_gpu(from_node, from_gpu, to_index);
  if (leaving != from_gpu) {
    append(paths(from_node).between(from_gpu, leaving), from_node, route);
  }
  append(paths(from_node).to_nic(leaving), from_node, route);
  fabric_.append(
      nic_number(from_node, paths(from_node).nic(leaving)), nic_number(to_node, to_index), route);
  append(paths(to_node).from_nic(to_gpu), to_node, route);
}

// With PXN, the GPU beside the NIC that has the receiver's index, if NVLink leads there.
int Routes::leaving_gpu(int node, int gpu, int to_index) const {
  const NodePaths& of = paths(node);
  if (!wiring_.transfers.pxn || of.nic(gpu) == to_index) {
    return gpu;
  }
  for (int other = 0; other < gpus_per_node_; ++other) {
    if (of.nic(other) == to_index && of.by_nvlink(gpu, other)) {
      return other;
    }
  }
  return gpu;
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

void Routes::append(const Route& part, int node, Route& route) const {
  const int offset = topology_.nodes()[node].first_link - topology_.nodes()[model(node)].first_link;
  for (const Hop& hop : part) {
    route.push_back({hop.link + offset, hop.share});
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
