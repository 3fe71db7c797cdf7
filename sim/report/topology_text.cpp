#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster_links.h"
#include "sim/report/text.h"
#include "sim/report/topology_summary.h"

namespace moesim {
namespace {

constexpr Align kLeft = Align::kLeft;
constexpr Align kRight = Align::kRight;

std::string latency_text(double seconds) {
  return format_time(Time::from_seconds(seconds));
}

std::string heading(const Cluster& cluster) {
  return fmt::format("{}: {} of {}{}, {} each\n",
                     visible_in_line(cluster.name),
                     counted(static_cast<std::size_t>(cluster.num_nodes), "node"),
                     counted(static_cast<std::size_t>(cluster.gpus_per_node), "GPU"),
                     cluster.gpu.empty() ? "" : " " + visible_in_line(cluster.gpu),
                     format_bytes(cluster.gpu_memory_bytes));
}

std::string range_text(int first, int count) {
  return count == 1 ? fmt::format("node {}", first)
                    : fmt::format("nodes {}..{}", first, first + count - 1);
}

std::string nodes_text(const TopologySummary& summary) {
  std::vector<std::string> header = {"parts of a node"};
  for (const TopologySummary::Parts& parts : summary.nodes.front().parts) {
    header.push_back(name(parts.kind));
  }
  std::vector<Align> columns(header.size(), kRight);
  columns.front() = kLeft;
  TextTable table(columns);
  table.add_row(std::move(header));
  for (const TopologySummary::Nodes& nodes : summary.nodes) {
    std::vector<std::string> row = {"  " + range_text(nodes.first, nodes.count)};
    for (const TopologySummary::Parts& parts : nodes.parts) {
      row.push_back(fmt::format("{}", parts.count));
    }
    table.add_row(std::move(row));
  }
  return table.to_string();
}

std::string inferred_text(const TopologySummary& summary) {
  std::string text;
  for (const TopologySummary::Nodes& nodes : summary.nodes) {
    for (const std::string& line : nodes.inferred) {
      text +=
          fmt::format("  {}: {}\n", range_text(nodes.first, nodes.count), visible_in_line(line));
    }
  }
  return text.empty() ? "" : "\ninferred from dumps\n" + text;
}

std::string switches_text(const TopologySummary& summary) {
  if (summary.switches.empty()) {
    return "";
  }
  std::string text = "\nswitches of the fabric\n";
  for (const TopologySummary::Switches& switches : summary.switches) {
    text += fmt::format("  level {}: {}", switches.level, switches.count);
    text += switches.width == 1
                ? "\n"
                : fmt::format(", each for {} equal ones over which messages are sprayed\n",
                              switches.width);
  }
  return text;
}

std::string cables_text(const TopologySummary& summary) {
  TextTable table({kLeft, kLeft, kRight, kLeft, kRight, kRight});
  table.add_row({"links", "between", "rate", "", "latency", "number"});
  for (const TopologySummary::Cables& cables : summary.cables) {
    const bool is_there = cables.rate > 0;
    table.add_row({"  " + name(cables.kind),
                   fmt::format("{} -- {}", cables.from, cables.to),
                   is_there ? format_rate(cables.rate) : "removed",
                   !is_there            ? ""
                   : cables.half_duplex ? "both ways together"
                                        : "each way",
                   latency_text(cables.latency),
                   fmt::format("{}", cables.count)});
  }
  return "\n" + table.to_string();
}

std::string ports_text(const Cluster& cluster) {
  TextTable table({kLeft, kRight, kLeft});
  table.add_row({"ports of a GPU", "rate", "latency"});
  const auto add = [&](const char* what, const PortRate& port) {
    if (port.bytes_per_second > 0) {
      table.add_row({what, format_rate(port.bytes_per_second), latency_text(port.latency_seconds)});
    }
  };
  add("  into its node", cluster.intra_node);
  add("  to other nodes", cluster.inter_node);
  return "\n" + table.to_string();
}

std::string reach_text(PeerAccess access) {
  switch (access) {
    case PeerAccess::kSystem:
      return "over PCIe in the whole node";
    case PeerAccess::kSocket:
      return "over PCIe at one socket, else through its memory";
    case PeerAccess::kPcieSwitch:
      return "over PCIe below one switch, else through a socket's memory";
    case PeerAccess::kNever:
      return "through a socket's memory";
  }
  return "";
}

std::string pxn_text(const TopologySummary& summary) {
  if (!summary.cluster.wiring->transfers.pxn) {
    return "by a NIC near the sender";
  }
  return summary.has_nvlink ? "PXN: by the NIC of the neighbour with the receiver's number, where "
                              "NVLink leads there"
                            : "by a NIC near the sender: pxn is without effect, no NVLink leads to "
                              "a neighbour";
}

std::string transfers_text(const TopologySummary& summary) {
  const TransferSpec& transfers = summary.cluster.wiring->transfers;
  TextTable table({kLeft, kLeft});
  table.add_row({"transfers", ""});
  table.add_row({summary.has_nvlink ? "  GPUs that no NVLink joins" : "  GPUs of a node",
                 fmt::format("{} (peer_access: {})",
                             reach_text(transfers.peer_access),
                             name(transfers.peer_access))});
  if (summary.cluster.num_nodes > 1) {
    table.add_row(
        {"  GPUs and NICs",
         transfers.gpudirect ? "directly: GPUDirect" : "through a socket's memory (no_gpudirect)"});
    table.add_row({"  to other nodes", pxn_text(summary)});
  }
  return "\n" + table.to_string();
}

std::string bisection_text(const TopologySummary& summary) {
  const Cluster& cluster = summary.cluster;
  const bool is_node = cluster.num_nodes == 1;
  const int all = is_node ? cluster.gpus_per_node : cluster.num_nodes;
  if (all == 1) {
    return "";
  }
  return fmt::format(
      "\nbisection bandwidth: {} from the first {} of {} {} to the rest (minimal cut)\n",
      format_rate(summary.bisection),
      all / 2,
      all,
      is_node ? "GPUs" : "nodes");
}

std::string way_text(const TopologySummary::Way& way, const Topology& topology) {
  TextTable table({kRight, kLeft, kLeft, kRight}, 2);
  for (const Hop& hop : way.route) {
    table.add_row({format_percent(hop.share),
                   link_name(topology, hop.link),
                   name(topology.links()[hop.link].kind),
                   format_rate(topology.rate(hop.link))});
  }
  return fmt::format("\nroute from rank {} to {}: alone {}, latency {}\n{}",
                     way.from,
                     way.to,
                     format_rate(way.rate),
                     latency_text(way.latency),
                     table.to_string());
}

}  // namespace

std::string to_text(const TopologySummary& summary) {
  const std::string head = heading(summary.cluster);
  if (summary.nodes.empty()) {
    return head + ports_text(summary.cluster) + "\nIt is described by ports, not link by link.\n";
  }
  std::string text = head + "\n" + nodes_text(summary) + inferred_text(summary) +
                     switches_text(summary) + cables_text(summary) + ports_text(summary.cluster) +
                     transfers_text(summary) + bisection_text(summary);
  for (const TopologySummary::Way& way : summary.ways) {
    text += way_text(way, summary.cluster.links->topology);
  }
  return text;
}

}  // namespace moesim
