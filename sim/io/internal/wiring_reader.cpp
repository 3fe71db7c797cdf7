#include "sim/io/internal/wiring_reader.h"

#include <fmt/core.h>

#include "sim/io/files.h"
#include "sim/io/internal/limits.h"
#include "sim/io/internal/names.h"

namespace moesim::io {
namespace {

constexpr RealRange kOversubscription = {0.01, 1000};
constexpr RealRange kRateFactor = {1e-6, 1e6};

// Of a link: slower ones only lead to times that nothing can hold.
double link_rate(const Fields& fields, const char* name) {
  const double rate = fields.quantity(name, parse_rate);
  if (rate < 1) {
    throw fields.error(name, "a link carries at least one byte per second");
  }
  return rate;
}

double rate_or(const Fields& fields, const char* name, double fallback) {
  return fields.has(name) ? link_rate(fields, name) : fallback;
}

double latency(const Fields& fields, const char* name) {
  return fields.has(name) ? fields.quantity(name, parse_time).seconds() : 0;
}

NvLinkSpec read_nvlink(const Fields& fields) {
  NvLinkSpec nvlink;
  nvlink.form = fields.choice_or("form", NvLinkForm::kSwitch);
  if (nvlink.form == NvLinkForm::kNoLinks) {
    for (const char* field : {"rate", "latency", "switches"}) {
      if (fields.has(field)) {
        throw fields.error(field, "form NONE has no links; remove it");
      }
    }
    return nvlink;
  }
  nvlink.rate = link_rate(fields, "rate");
  nvlink.latency = latency(fields, "latency");
  nvlink.switches = fields.integer_or("switches", 1, kRankCount);
  if (nvlink.form != NvLinkForm::kSwitch && fields.has("switches")) {
    throw fields.error("switches", "only form SWITCH has NVSwitches; remove it");
  }
  return nvlink;
}

NodeSpec read_node(const Fields& fields) {
  NodeSpec node;
  node.sockets = fields.integer_or("sockets", 1, kRankCount);
  node.gpus_per_pcie_switch = fields.integer_or("gpus_per_pcie_switch", 0, {0, kMaxRanks});
  node.pcie_rate = link_rate(fields, "pcie_rate");
  node.pcie_latency = latency(fields, "pcie_latency");
  if (const auto nvlink = fields.optional_child("nvlink")) {
    node.nvlink = read_nvlink(*nvlink);
  }
  node.socket_interconnect_rate = rate_or(fields, "socket_interconnect_rate", 0);
  node.memory_rate = link_rate(fields, "memory_rate");
  node.nics = fields.integer_or("nics", 0, {0, kMaxRanks});
  if (node.nics > 0) {
    node.nic_rate = link_rate(fields, "nic_rate");
  }
  node.nic_pcie_rate = rate_or(fields, "nic_pcie_rate", node.pcie_rate);
  node.nic_placement = fields.choice_or("nic_placement", NicPlacement::kSwitch);
  if (node.nics > 0 && node.nic_placement == NicPlacement::kSwitch &&
      node.gpus_per_pcie_switch == 0) {
    throw fields.error("nic_placement",
                       "no PCIe switches for NICs; write nic_placement: ROOT_PORT, or "
                       "gpus_per_pcie_switch");
  }
  return node;
}

NodeDump read_dump(const Fields& fields) {
  NodeDump dump;
  dump.path = resolve_path(fields.document().path(), fields.text("import"));
  require_file(fields, "import", dump.path);
  dump.text = read_file(dump.path);
  dump.pcie_rate = rate_or(fields, "pcie_rate", 0);
  dump.nic_rate = rate_or(fields, "nic_rate", 0);
  dump.memory_rate = rate_or(fields, "memory_rate", 0);
  dump.socket_interconnect_rate = rate_or(fields, "socket_interconnect_rate", 0);
  dump.nvlink_link_rate = rate_or(fields, "nvlink_link_rate", 0);
  if (const auto nvlink = fields.optional_child("nvlink")) {
    dump.nvlink = read_nvlink(*nvlink);
  }
  return dump;
}

NodeGroup read_node_group(const Fields& fields) {
  NodeGroup group;
  group.location = fields.error("").location();
  group.count = fields.integer_or("count", 0, kRankCount);
  if (fields.has("node") == fields.has("import")) {
    throw fields.error(R"(give either "node" or "import")");
  }
  if (fields.has("import")) {
    group.node = read_dump(fields);
    return group;
  }
  for (const char* field : {"pcie_rate",
                            "nic_rate",
                            "memory_rate",
                            "socket_interconnect_rate",
                            "nvlink_link_rate",
                            "nvlink"}) {
    if (fields.has(field)) {
      throw fields.error(field, "only an import is completed so; write it in \"node\"");
    }
  }
  group.node = read_node(fields.child("node"));
  return group;
}

// Groups without a count take what the others leave.
void share_out(const Fields& cluster, int num_nodes, std::vector<NodeGroup>& groups) {
  int left = num_nodes;
  int uncounted = 0;
  for (const NodeGroup& group : groups) {
    left -= std::min(left + 1, group.count);
    uncounted += group.count == 0 ? 1 : 0;
  }
  if (uncounted > 1 || (uncounted == 1 ? left < 1 : left != 0)) {
    throw cluster.error("nodes",
                        fmt::format("counts must add up to num_nodes, {}; leave out one at most, "
                                    "which takes the nodes that are left",
                                    num_nodes));
  }
  for (NodeGroup& group : groups) {
    if (group.count == 0) {
      group.count = left;
    }
  }
}

FatTree read_fat_tree(const Fields& fields) {
  FatTree tree;
  tree.down = fields.integers("down", kRankCount);
  tree.oversubscription = fields.reals("oversubscription", kOversubscription);
  tree.rails = fields.flag("rails");
  if (tree.down.empty()) {
    throw fields.error("down", "a fat tree without switches; write how many NICs hang at a leaf");
  }
  const size_t below_top = tree.down.size() - 1;
  if (tree.oversubscription.size() > below_top) {
    throw fields.error(
        "oversubscription",
        static_cast<int>(below_top),
        fmt::format("a tree of {} levels has {} below the top, and each of these one "
                    "oversubscription; remove the rest, or add levels to \"down\"",
                    below_top + 1,
                    below_top));
  }
  tree.oversubscription.resize(below_top, 1);
  return tree;
}

FabricSpec read_fabric(const Fields& fields) {
  FabricSpec fabric;
  fabric.location = fields.error("").location();
  const std::string kind = fields.member_of("kind");
  if (kind.empty()) {
    throw fields.error("no kind; write single_switch {}, fat_tree {…}, dragonfly {…} or torus {…}");
  }
  const Fields of = fields.child(kind.c_str());
  if (kind == "fat_tree") {
    fabric.kind = read_fat_tree(of);
  } else if (kind == "dragonfly") {
    fabric.kind = Dragonfly{of.integer("routers_per_group", kRankCount),
                            of.integer("nics_per_router", kRankCount),
                            of.integer("global_links_per_router", kRankCount)};
  } else if (kind == "torus") {
    fabric.kind = Torus{of.integers("dimensions", kRankCount),
                        of.integer_or("nics_per_router", 1, kRankCount)};
  }
  fabric.link_rate = rate_or(fields, "link_rate", 0);
  fabric.link_latency = latency(fields, "link_latency");
  fabric.routing = fields.choice_or("routing", FabricRouting::kSpray);
  fabric.seed = fields.unsigned_or("seed", 0);
  if (kind == "single_switch" && fields.has("link_rate")) {
    throw fields.error("link_rate", "a single switch has no links to others; remove it");
  }
  if (fabric.routing != FabricRouting::kHash && fields.has("seed")) {
    throw fields.error("seed", "it goes with routing: HASH; write that, or remove it");
  }
  return fabric;
}

LinkChange read_change(const Fields& fields) {
  LinkChange change;
  change.at = fields.text("at");
  change.location = fields.error("at", "").location();
  change.kind = fields.choice_or("kind", LinkKind::kAny);
  change.remove = fields.flag("remove");
  change.rate_factor = fields.real_or("rate_factor", 1, kRateFactor);
  if (change.remove == fields.has("rate_factor")) {
    throw fields.error("give either rate_factor or remove: true");
  }
  return change;
}

}  // namespace

Wiring read_wiring(const Fields& cluster, int num_nodes) {
  Wiring wiring;
  for (const Fields& group : cluster.children("nodes")) {
    wiring.nodes.push_back(read_node_group(group));
  }
  share_out(cluster, num_nodes, wiring.nodes);
  if (const auto fabric = cluster.optional_child("fabric")) {
    wiring.fabric = read_fabric(*fabric);
  } else if (num_nodes > 1) {
    throw cluster.error("fabric", "several nodes and nothing that joins them; add a fabric");
  }
  if (const auto transfers = cluster.optional_child("transfers")) {
    wiring.transfers = {transfers->choice_or("peer_access", PeerAccess::kSystem),
                        !transfers->flag("no_gpudirect"),
                        transfers->flag("pxn")};
  }
  for (const Fields& change : cluster.children("changes")) {
    wiring.changes.push_back(read_change(change));
  }
  return wiring;
}

}  // namespace moesim::io
