#include "sim/cluster/imported_node.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

using Device = ImportedNode::Device;
using NvLinks = ImportedNode::NvLinks;
using Socket = ImportedNode::Socket;

// Fields beside `import`: which are missing, which nothing asked for, and what stands in for those
// that are not given.
class Completion {
 public:
  // Fills in a rate that the dump does not say.
  void fill(const char* field, double given, double& rate) {
    if (rate > 0) {
      return;
    }
    rate = given;
    note(given > 0 ? used_ : missing_, field);
  }

  // Replaces one that was only inferred.
  void replace(const char* field, double given, KnownRate& known) {
    if (given == 0 && known.rate > 0) {
      note(inferred_, fmt::format("{} {:g} GB/s: {}", field, known.rate / 1e9, known.what));
      return;
    }
    known.rate = given;
    note(given > 0 ? used_ : missing_, field);
  }

  void require(const char* field) { note(missing_, field); }

  void check_missing(const std::string& path) const {
    if (!missing_.empty()) {
      throw Error(fmt::format(
          "{} does not say enough; write {} beside import", path, fmt::join(missing_, ", ")));
    }
  }

  void check_used(const char* field, double given, const std::string& path) const {
    if (given > 0 && std::ranges::find(used_, field) == used_.end()) {
      throw Error(
          fmt::format("{} is for nothing, as {} needs no such rate; remove it", field, path));
    }
  }

  const std::vector<std::string>& inferred() const { return inferred_; }

 private:
  static void note(std::vector<std::string>& notes, const std::string& text) {
    if (std::ranges::find(notes, text) == notes.end()) {
      notes.push_back(text);
    }
  }

  std::vector<std::string> missing_;
  std::vector<std::string> used_;
  std::vector<std::string> inferred_;
};

// NVLinks as a generated node of so many GPUs would have them.
std::vector<NvLinks> generated_nvlinks(const NvLinkSpec& spec, int num_gpus) {
  const NodeGraph graph = generate_node({.pcie_rate = 1, .nvlink = spec}, num_gpus);
  std::vector<NvLinks> links;
  for (const Cable& cable : graph.cables) {
    if (cable.kind == LinkKind::kNvLink) {
      const NodeGraph::Part& to = graph.parts[cable.b];
      links.push_back({.gpu = graph.parts[cable.a].index,
                       .to_kind = to.kind,
                       .to = to.index,
                       .count = 1,
                       .link = {cable.rate, "as given"},
                       .latency = cable.latency});
    }
  }
  return links;
}

void complete_nvlinks(const NodeDump& dump, Completion& completion, ImportedNode& node) {
  if (!dump.nvlink.has_value()) {
    if (!node.knows_nvlinks) {
      completion.require("nvlink (form: NONE if there is none)");
    }
  } else if (node.knows_nvlinks) {
    throw Error(
        fmt::format("nvlink is for nothing: {} says how GPUs are joined; remove it", dump.path));
  } else if (dump.nvlink->rate > 0) {
    node.nvlinks = generated_nvlinks(*dump.nvlink, node.count(ElementKind::kGpu));
    return;
  }
  for (NvLinks& links : node.nvlinks) {
    completion.replace("nvlink_link_rate", dump.nvlink_link_rate, links.link);
  }
}

void complete(const NodeDump& dump, ImportedNode& node) {
  Completion completion;
  for (Device& device : node.devices) {
    completion.fill("pcie_rate", dump.pcie_rate, device.pcie_rate);
    if (device.kind == ElementKind::kNic) {
      completion.fill("nic_rate", dump.nic_rate, device.nic_rate);
    }
  }
  for (Socket& socket : node.sockets) {
    completion.replace("memory_rate", dump.memory_rate, socket.memory);
    if (node.sockets.size() > 1) {
      completion.replace(
          "socket_interconnect_rate", dump.socket_interconnect_rate, socket.interconnect);
    }
  }
  complete_nvlinks(dump, completion, node);
  completion.check_missing(dump.path);
  completion.check_used("pcie_rate", dump.pcie_rate, dump.path);
  completion.check_used("nic_rate", dump.nic_rate, dump.path);
  completion.check_used("memory_rate", dump.memory_rate, dump.path);
  completion.check_used("socket_interconnect_rate", dump.socket_interconnect_rate, dump.path);
  completion.check_used("nvlink_link_rate", dump.nvlink_link_rate, dump.path);
  node.inferred.insert(
      node.inferred.end(), completion.inferred().begin(), completion.inferred().end());
}

// Adds parts kind by kind, then what joins them.
class Assembly {
 public:
  explicit Assembly(const ImportedNode& node) : node_(node), parts_(node.devices.size()) {}

  NodeGraph run() {
    add_devices(ElementKind::kGpu, gpus_);
    add_devices(ElementKind::kNic, nics_);
    add_nvswitches();
    add_devices(ElementKind::kPcieSwitch, pcie_switches_);
    add_sockets();
    join_devices();
    join_gpus();
    graph_.inferred = node_.inferred;
    return std::move(graph_);
  }

 private:
  void add_devices(ElementKind kind, std::vector<int>& parts) {
    for (size_t i = 0; i < node_.devices.size(); ++i) {
      if (node_.devices[i].kind == kind) {
        parts_[i] = graph_.add(kind);
        parts.push_back(parts_[i]);
        if (kind == ElementKind::kNic) {
          graph_.nic_rates.push_back(node_.devices[i].nic_rate);
        }
      }
    }
  }

  void add_nvswitches() {
    int count = 0;
    for (const NvLinks& links : node_.nvlinks) {
      if (links.to_kind == ElementKind::kNvSwitch) {
        count = std::max(count, links.to + 1);
      }
    }
    for (int i = 0; i < count; ++i) {
      nvswitches_.push_back(graph_.add(ElementKind::kNvSwitch));
    }
  }

  void add_sockets() {
    for (size_t i = 0; i < node_.sockets.size(); ++i) {
      sockets_.push_back(graph_.add(ElementKind::kSocket));
    }
    for (size_t i = 0; i < node_.sockets.size(); ++i) {
      const Socket& socket = node_.sockets[i];
      graph_.add_memory(sockets_[i], socket.memory.rate);
      for (size_t j = 0; j < i; ++j) {
        graph_.join(sockets_[j],
                    sockets_[i],
                    LinkKind::kInterconnect,
                    std::min(socket.interconnect.rate, node_.sockets[j].interconnect.rate));
      }
    }
  }

  void join_devices() {
    for (size_t i = 0; i < node_.devices.size(); ++i) {
      const Device& device = node_.devices[i];
      if (device.parent != kNone) {
        graph_.join(parts_[i], parts_[device.parent], LinkKind::kPcie, device.pcie_rate);
        continue;
      }
      const int port = graph_.add(ElementKind::kRootPort);
      graph_.join(parts_[i], port, LinkKind::kPcie, device.pcie_rate);
      graph_.join(port, sockets_[device.socket], LinkKind::kPcie, device.pcie_rate);
    }
  }

  void join_gpus() {
    for (const NvLinks& links : node_.nvlinks) {
      const std::vector<int>& to = links.to_kind == ElementKind::kGpu ? gpus_ : nvswitches_;
      graph_.join(gpus_[links.gpu],
                  to[links.to],
                  LinkKind::kNvLink,
                  links.count * links.link.rate,
                  links.latency);
    }
  }

  const ImportedNode& node_;
  NodeGraph graph_;
  std::vector<int> parts_;  // by device
  std::vector<int> gpus_;
  std::vector<int> nics_;
  std::vector<int> nvswitches_;
  std::vector<int> pcie_switches_;
  std::vector<int> sockets_;
};

}  // namespace

int ImportedNode::count(ElementKind kind) const {
  return static_cast<int>(std::ranges::count(devices, kind, &Device::kind));
}

NodeGraph make_graph(ImportedNode node, const NodeDump& dump) {
  complete(dump, node);
  return Assembly(node).run();
}

}  // namespace moesim
