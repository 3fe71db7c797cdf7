#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/wiring.h"

namespace moesim {

struct ClusterLinks;

// What one port of a GPU carries each way, without protocol overheads.
struct PortRate {
  double bytes_per_second = 0;
  double latency_seconds = 0;
};

// `num_nodes` nodes of `gpus_per_node` GPUs. Rank r is GPU r mod gpus_per_node of node
// r / gpus_per_node. Either as the two-level fabric of a testbed, in which each GPU has a port into
// its node and a port to the other nodes, or with `wiring`, link by link; then `links` is
// its graph, and the ports are what the links leave of them when all GPUs send
// (sim/cluster/wired_cluster.h). `intra_node` and `inter_node` serve collectives that the profile
// has no figure for.
struct Cluster {
  std::string name;
  std::string source;  // where its numbers come from
  int num_nodes = 0;
  int gpus_per_node = 0;
  std::string gpu;
  int64_t gpu_memory_bytes = 0;
  PortRate intra_node;
  PortRate inter_node;
  std::optional<Wiring> wiring;
  std::shared_ptr<const ClusterLinks> links;  // of the wiring: sim/cluster/wired_cluster.h

  int num_gpus() const { return num_nodes * gpus_per_node; }
};

// Reads a cluster in text format or JSON. Of the overrides, those that start with "cluster." apply:
// "cluster.num_nodes=4". Throws Error located in the file or at the override.
Cluster load_cluster(const std::string& path, const std::vector<std::string>& overrides = {});

// The same for text that was read from `path`.
Cluster parse_cluster(const std::string& text,
                      const std::string& path,
                      const std::vector<std::string>& overrides = {});

}  // namespace moesim
