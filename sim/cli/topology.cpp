#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cli/commands.h"
#include "sim/cli/output.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "sim/io/gpu_match.h"
#include "sim/io/imported_files.h"
#include "sim/io/output_paths.h"
#include "sim/io/profile.h"
#include "sim/report/topology_dot.h"
#include "sim/report/topology_summary.h"
#include "sim/report/topology_svg.h"

namespace moesim {
namespace {

std::vector<RankPair> chosen_pairs(const TopologyOptions& options, const Cluster& cluster) {
  if (!options.route) {
    return {};
  }
  const auto [from, to] = *options.route;
  if (!cluster.wiring) {
    throw Error(options.cluster, "it is described by ports and has no routes; leave --route out");
  }
  if (std::max(from, to) >= cluster.num_gpus()) {
    throw Error(fmt::format("--route {},{}: ranks are 0 to {}", from, to, cluster.num_gpus() - 1));
  }
  return {{from, to}};
}

// wired() has found every way, or named the parts between which there is none.
std::string check(const TopologyOptions& options, const Cluster& cluster) {
  const std::string mismatch = options.profile.empty()
                                   ? std::string()
                                   : gpu_mismatch(load_profile(options.profile), cluster);
  return fmt::format("{}: every GPU of {} reaches every other{}\n{}",
                     visible_in_line(cluster.name),
                     cluster.num_gpus(),
                     cluster.wiring ? "" : ", over the ports that describe it",
                     mismatch.empty() ? "" : fmt::format("warning: {}\n", mismatch));
}

GraphFormat format_of(const TopologyOptions& options) {
  return options.format.value_or(options.out.ends_with(".svg") ? GraphFormat::kSvg
                                                               : GraphFormat::kDot);
}

std::string graph(const TopologyOptions& options, const Cluster& cluster) {
  if (!cluster.wiring) {
    throw Error(options.cluster, "it is described by ports and has no links to draw; add nodes");
  }
  const int node = options.node.value_or(0);
  if (node >= cluster.num_nodes) {
    throw Error(fmt::format("--node {}: nodes are 0 to {}", node, cluster.num_nodes - 1));
  }
  return format_of(options) == GraphFormat::kDot
             ? to_dot(cluster.links->topology, cluster.name, node)
             : to_svg(cluster.links->topology, cluster.name, node);
}

int print(const std::string& text, const std::string& path) {
  if (path.empty()) {
    print_out(text);
  } else {
    write_file_atomically(path, text);
  }
  return kExitOk;
}

}  // namespace

int run_topology(const TopologyOptions& options) {
  const Cluster cluster = wired(load_cluster(options.cluster, options.overrides));
  std::vector<std::string> inputs = imported_files(cluster);
  inputs.push_back(options.cluster);
  check_outputs({options.out}, inputs);
  switch (*options.action) {
    case TopologyAction::kShow: {
      const TopologySummary summary = summarize(cluster, chosen_pairs(options, cluster));
      return print(options.json ? to_json(summary) : to_text(summary), "");
    }
    case TopologyAction::kCheck:
      return print(check(options, cluster), "");
    case TopologyAction::kExport:
      return print(graph(options, cluster), options.out);
  }
  return kExitFailed;
}

}  // namespace moesim
