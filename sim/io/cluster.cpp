#include "sim/io/cluster.h"

#include <fmt/core.h>

#include "sim/io/files.h"
#include "sim/io/internal/limits.h"
#include "sim/io/internal/wiring_reader.h"

namespace moesim {
namespace {

using io::Fields;

PortRate read_port(const Fields& fields) {
  PortRate port;
  port.bytes_per_second = fields.quantity("rate", parse_rate);
  if (fields.has("latency")) {
    port.latency_seconds = fields.quantity("latency", parse_time).seconds();
  }
  return port;
}

}  // namespace

Cluster load_cluster(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_cluster(read_file(path), path, overrides);
}

Cluster parse_cluster(const std::string& text,
                      const std::string& path,
                      const std::vector<std::string>& overrides) {
  const io::Document document(
      io::Schema::kCluster, text, path, io::overrides_of(io::OverrideTarget::kCluster, overrides));
  const Fields root = document.root();
  Cluster cluster;
  cluster.name = root.text_or("name", document.stem());
  cluster.source = root.text_or("source", "");
  cluster.num_nodes = root.integer("num_nodes", io::kRankCount);
  cluster.gpus_per_node = root.integer("gpus_per_node", io::kRankCount);
  if (cluster.num_nodes > io::kMaxRanks / cluster.gpus_per_node) {
    throw root.error("num_nodes",
                     fmt::format("{} nodes of {} GPUs are more than {} ranks; use fewer",
                                 cluster.num_nodes,
                                 cluster.gpus_per_node,
                                 io::kMaxRanks));
  }
  cluster.gpu = root.text_or("gpu", "");
  cluster.gpu_memory_bytes = root.quantity("gpu_memory", parse_bytes);
  if (cluster.gpu_memory_bytes == 0) {
    throw root.error("gpu_memory", "a GPU without memory; write its size, such as \"48 GiB\"");
  }
  if (root.has("nodes")) {
    for (const char* port : {"intra_node", "inter_node"}) {
      if (root.has(port)) {
        throw root.error(port, "ports follow from the nodes' links; keep one of the two");
      }
    }
    cluster.wiring = io::read_wiring(root, cluster.num_nodes);
    return cluster;
  }
  for (const char* part : {"fabric", "transfers", "changes"}) {
    if (root.has(part)) {
      throw root.error(part, "it says how links of \"nodes\" are used; add those, or remove it");
    }
  }
  cluster.intra_node = read_port(root.child("intra_node"));
  cluster.inter_node = read_port(root.child("inter_node"));
  return cluster;
}

}  // namespace moesim
