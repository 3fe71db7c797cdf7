#include "sim/cluster/node_paths.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {

// Looks for the paths of one node.
class NodePathFinder {
 public:
  NodePathFinder(const Topology& topology, int node, const TransferSpec& transfers)
      : topology_(topology), node_(node), transfers_(transfers) {
    for (int i = topology.nodes()[node].first_element; i < std::ssize(topology.elements()); ++i) {
      const Element& element = topology.elements()[i];
      if (element.node != node) {
        break;
      }
      if (element.kind == ElementKind::kGpu) {
        gpus_.push_back(i);
      } else if (element.kind == ElementKind::kNic && reaches_fabric(i)) {
        nics_.push_back(i);
      }
    }
  }

  void fill(NodePaths& paths) {
    for (const int from : gpus_) {
      for (const int to : gpus_) {
        const Route nvlink = from == to ? Route() : over_nvlink(from, to);
        paths.by_nvlink_.push_back(!nvlink.empty());
        paths.between_.push_back(from == to || !nvlink.empty() ? nvlink : over_pcie(from, to));
      }
    }
    const std::vector<std::vector<int>> nics = nics_of_gpus();
    for (size_t i = 0; i < gpus_.size(); ++i) {
      std::vector<NodePaths::NicPath>& of_gpu = paths.nics_.emplace_back();
      for (const int nic : nics[i]) {
        of_gpu.push_back({topology_.elements()[nic].index,
                          with_nic(gpus_[i], nic, nic),
                          with_nic(nic, gpus_[i], nic)});
      }
    }
  }

 private:
  using Links = std::vector<int>;

  bool reaches_fabric(int nic) const {
    return std::ranges::any_of(topology_.out(nic), [&](int link) {
      return topology_.links()[link].kind == LinkKind::kNetwork;
    });
  }

  // Links of the shortest path that avoids NVLink and the network; of equals, the first. Empty
  // where there is none.
  const Links& host_path(int from, int to) {
    auto [found, is_new] = trees_.try_emplace(from);
    if (is_new) {
      found->second = search(from);
    }
    return found->second[to - first_element()];
  }

  int first_element() const { return topology_.nodes()[node_].first_element; }

  std::map<int, Links> search(int from) const {
    std::map<int, Links> paths;
    std::vector<int> reached = {from};
    paths[from - first_element()] = {};
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const int link : topology_.out(reached[i])) {
        const Link& of = topology_.links()[link];
        const int to = of.to - first_element();
        const bool is_host = of.kind != LinkKind::kNvLink && of.kind != LinkKind::kNetwork;
        if (is_host && (is_way(reached[i]) || reached[i] == from) && !paths.contains(to)) {
          Links path = paths[reached[i] - first_element()];
          path.push_back(link);
          paths[to] = std::move(path);
          reached.push_back(of.to);
        }
      }
    }
    return paths;
  }

  // Messages pass through these parts; in others they end.
  bool is_way(int element) const {
    const ElementKind kind = topology_.elements()[element].kind;
    return kind == ElementKind::kPcieSwitch || kind == ElementKind::kRootPort ||
           kind == ElementKind::kSocket;
  }

  bool is_reached(int from, int to) { return from == to || !host_path(from, to).empty(); }

  // The direct links, else all NVSwitches that both GPUs have, in proportion to their rates.
  Route over_nvlink(int from, int to) const {
    Route direct;
    Route switched;
    for (const int link : topology_.out(from)) {
      const Link& first = topology_.links()[link];
      if (first.kind != LinkKind::kNvLink) {
        continue;
      }
      if (first.to == to) {
        direct.push_back({link, topology_.rate(link)});
      }
      for (const int second : topology_.out(first.to)) {
        if (topology_.links()[second].to == to &&
            topology_.elements()[first.to].kind == ElementKind::kNvSwitch) {
          const double rate = std::min(topology_.rate(link), topology_.rate(second));
          switched.insert(switched.end(), {{link, rate}, {second, rate}});
        }
      }
    }
    return direct.empty() ? in_proportion(std::move(switched), 2)
                          : in_proportion(std::move(direct), 1);
  }

  // Shares from rates of ways of so many links each.
  static Route in_proportion(Route route, int links) {
    double total = 0;
    for (const Hop& hop : route) {
      total += hop.share / links;
    }
    for (Hop& hop : route) {
      hop.share /= total;
    }
    return route;
  }

  Route over_pcie(int from, int to) {
    const Links& direct = host_path(from, to);
    if (!direct.empty() && may_access(direct)) {
      return route_of(direct);
    }
    return staged(from, to, from);
  }

  bool may_access(const Links& path) const {
    bool crosses_sockets = false;
    bool meets_socket = false;
    for (const int link : path) {
      crosses_sockets |= topology_.links()[link].kind == LinkKind::kInterconnect;
      meets_socket |= topology_.elements()[topology_.links()[link].to].kind == ElementKind::kSocket;
    }
    switch (transfers_.peer_access) {
      case PeerAccess::kSystem:
        return true;
      case PeerAccess::kSocket:
        return !crosses_sockets;
      case PeerAccess::kPcieSwitch:
        return !meets_socket;
      case PeerAccess::kNever:
        return false;
    }
    return false;
  }

  // Between a GPU and a NIC, either way.
  Route with_nic(int from, int to, int nic) {
    return transfers_.gpudirect ? route_of(host_path(from, to)) : staged(from, to, nic);
  }

  // Through the memory nearest to `beside`.
  Route staged(int from, int to, int beside) {
    const int memory = nearest_memory(beside);
    if (memory == kNone || !is_reached(from, memory) || !is_reached(memory, to)) {
      throw Error(fmt::format("no way from {} to {} within the node; join them",
                              name(topology_.elements()[from]),
                              name(topology_.elements()[to])));
    }
    Route route = route_of(host_path(from, memory));
    const Route rest = route_of(host_path(memory, to));
    route.insert(route.end(), rest.begin(), rest.end());
    return route;
  }

  int nearest_memory(int element) {
    int best = kNone;
    size_t hops = std::numeric_limits<size_t>::max();
    for (int i = first_element();
         i < std::ssize(topology_.elements()) && topology_.elements()[i].node == node_;
         ++i) {
      const bool is_memory = topology_.elements()[i].kind == ElementKind::kMemory;
      if (is_memory && is_reached(element, i) && host_path(element, i).size() < hops) {
        best = i;
        hops = host_path(element, i).size();
      }
    }
    return best;
  }

  static Route route_of(const Links& links) {
    Route route;
    for (const int link : links) {
      route.push_back({link, 1});
    }
    return route;
  }

  std::vector<int> nearest_nics(int gpu) {
    std::vector<int> nearest;
    size_t hops = std::numeric_limits<size_t>::max();
    for (const int nic : nics_) {
      const size_t away = host_path(gpu, nic).size();
      if (away > 0 && away <= hops) {
        if (away < hops) {
          nearest.clear();
        }
        nearest.push_back(nic);
        hops = away;
      }
    }
    return nearest;
  }

  std::vector<std::vector<int>> nics_of_gpus() {
    std::map<std::vector<int>, std::vector<size_t>> sharing;  // GPUs by the NICs nearest to them
    for (size_t i = 0; i < gpus_.size(); ++i) {
      const std::vector<int> nearest = nearest_nics(gpus_[i]);
      if (nearest.empty() && !nics_.empty()) {
        throw Error(fmt::format("{} reaches no NIC; join it to one by PCIe",
                                name(topology_.elements()[gpus_[i]])));
      }
      sharing[nearest].push_back(i);
    }
    std::vector<std::vector<int>> chosen(gpus_.size());
    for (const auto& [nearest, gpus] : sharing) {
      for (size_t turn = 0; turn < gpus.size() && !nearest.empty(); ++turn) {
        chosen[gpus[turn]] = nearest.size() > gpus.size()
                                 ? nearest
                                 : std::vector<int>{nearest[turn % nearest.size()]};
      }
    }
    return chosen;
  }

  const Topology& topology_;
  int node_;
  const TransferSpec& transfers_;
  std::vector<int> gpus_;
  std::vector<int> nics_;                      // that reach the fabric
  std::map<int, std::map<int, Links>> trees_;  // by where they begin, then by where they end
};

NodePaths::NodePaths(const Topology& topology, int node, const TransferSpec& transfers) {
  NodePathFinder(topology, node, transfers).fill(*this);
}

}  // namespace moesim
