#include "tests/unit/cluster/small_clusters.h"

#include <fmt/core.h>

namespace moesim {

Cluster small_cluster(int num_nodes, int gpus_per_node, const std::string& parts) {
  return parse_cluster(fmt::format("num_nodes: {} gpus_per_node: {} gpu_memory: '1 GiB'\n{}",
                                   num_nodes,
                                   gpus_per_node,
                                   parts),
                       "c.txtpb");
}

std::string plain_nodes(int nics) {
  return fmt::format(
      "nodes {{ node {{ pcie_rate: '10 GB/s' memory_rate: '100 GB/s' nvlink {{ rate: '4 GB/s' }} "
      "nics: {} nic_rate: '1 GB/s' nic_placement: ROOT_PORT }} }}\n",
      nics);
}

std::vector<std::string> hops(const Topology& topology, const Route& route) {
  std::vector<std::string> names;
  for (const Hop& hop : route) {
    names.push_back(hop.share == 1
                        ? link_name(topology, hop.link)
                        : fmt::format("{} * {:.4g}", link_name(topology, hop.link), hop.share));
  }
  return names;
}

}  // namespace moesim
