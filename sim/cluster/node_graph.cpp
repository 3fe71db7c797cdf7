#include "sim/cluster/node_graph.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

// One node under construction. PCIe devices hang at a switch or at a root port, root ports at
// sockets.
class Generator {
 public:
  Generator(const NodeSpec& spec, int num_gpus) : spec_(spec), num_gpus_(num_gpus) { check(); }

  NodeGraph run() {
    add_parts();
    add_sockets();
    add_pcie();
    add_nvlink();
    return std::move(graph_);
  }

 private:
  void check() const {
    check_limit(num_gpus_, "GPUs");
    check_limit(spec_.nics, "NICs");
    check_limit(spec_.sockets, "sockets");
    check_limit(spec_.nvlink.switches, "NVSwitches");
    check_divides(num_gpus_, "GPUs", spec_.sockets, "sockets");
    if (spec_.gpus_per_pcie_switch > 0) {
      const int on_socket = num_gpus_ / spec_.sockets;
      check_divides(on_socket, "GPUs of a socket", spec_.gpus_per_pcie_switch, "to a PCIe switch");
    }
    if (spec_.nvlink.form == NvLinkForm::kPairs && spec_.nvlink.rate > 0) {
      check_divides(num_gpus_, "GPUs", 2, "to an NVLink bridge");
    }
  }

  // Ways between all GPUs of a node are kept, and many parts are joined to all others.
  static void check_limit(int count, const char* what) {
    constexpr int kMost = 1024;
    if (count > kMost) {
      throw Error(
          fmt::format("{} {} in a node; it may have {}: use more nodes, or the two ports "
                      "of a cluster without links",
                      count,
                      what,
                      kMost));
    }
  }

  static void check_divides(int count, const char* what, int by, const char* parts) {
    if (count % by != 0) {
      throw Error(fmt::format("{} {} do not divide by {} {}", count, what, by, parts));
    }
  }

  int num_pcie_switches() const {
    return spec_.gpus_per_pcie_switch == 0 ? 0 : num_gpus_ / spec_.gpus_per_pcie_switch;
  }

  void add_parts() {
    add_many(num_gpus_, ElementKind::kGpu, gpus_);
    add_many(spec_.nics, ElementKind::kNic, nics_);
    if (spec_.nvlink.rate > 0 && spec_.nvlink.form == NvLinkForm::kSwitch) {
      add_many(spec_.nvlink.switches, ElementKind::kNvSwitch, nvswitches_);
    }
    add_many(num_pcie_switches(), ElementKind::kPcieSwitch, pcie_switches_);
    add_many(spec_.sockets, ElementKind::kSocket, sockets_);
    graph_.nic_rates.assign(static_cast<size_t>(spec_.nics), spec_.nic_rate);
  }

  void add_many(int count, ElementKind kind, std::vector<int>& parts) {
    for (int i = 0; i < count; ++i) {
      parts.push_back(graph_.add(kind));
    }
  }

  void add_sockets() {
    for (const int socket : sockets_) {
      graph_.add_memory(socket, spec_.memory_rate);
    }
    if (spec_.socket_interconnect_rate == 0) {
      return;
    }
    for (size_t i = 0; i < sockets_.size(); ++i) {
      for (size_t j = i + 1; j < sockets_.size(); ++j) {
        graph_.join(
            sockets_[i], sockets_[j], LinkKind::kInterconnect, spec_.socket_interconnect_rate);
      }
    }
  }

  void add_pcie() {
    for (size_t i = 0; i < pcie_switches_.size(); ++i) {
      hang_at_root_port(pcie_switches_[i], i * sockets_.size() / pcie_switches_.size(), 1);
    }
    for (size_t i = 0; i < gpus_.size(); ++i) {
      if (pcie_switches_.empty()) {
        hang_at_root_port(gpus_[i], i * sockets_.size() / gpus_.size(), 1);
      } else {
        join_pcie(gpus_[i], pcie_switches_[i * pcie_switches_.size() / gpus_.size()], 1);
      }
    }
    const double ratio = spec_.nic_pcie_rate / spec_.pcie_rate;
    for (size_t i = 0; i < nics_.size(); ++i) {
      if (spec_.nic_placement == NicPlacement::kRootPort) {
        hang_at_root_port(nics_[i], i * sockets_.size() / nics_.size(), ratio);
      } else {
        join_pcie(nics_[i], pcie_switches_[i * pcie_switches_.size() / nics_.size()], ratio);
      }
    }
  }

  void hang_at_root_port(int part, size_t socket, double ratio) {
    const int port = graph_.add(ElementKind::kRootPort);
    join_pcie(part, port, ratio);
    // Within the processor, without latency.
    graph_.join(port, sockets_[socket], LinkKind::kPcie, spec_.pcie_rate * ratio);
  }

  void join_pcie(int a, int b, double ratio) {
    graph_.join(a, b, LinkKind::kPcie, spec_.pcie_rate * ratio, spec_.pcie_latency);
  }

  void add_nvlink() {
    const NvLinkSpec& nvlink = spec_.nvlink;
    for (size_t i = 0; nvlink.rate > 0 && i < gpus_.size(); ++i) {
      for (const int nvswitch : nvswitches_) {
        join_nvlink(gpus_[i], nvswitch, nvlink.rate / nvlink.switches);
      }
      if (nvlink.form == NvLinkForm::kPairs && i % 2 == 0) {
        join_nvlink(gpus_[i], gpus_[i + 1], nvlink.rate);
      }
      for (size_t j = i + 1; nvlink.form == NvLinkForm::kMesh && j < gpus_.size(); ++j) {
        join_nvlink(gpus_[i], gpus_[j], nvlink.rate / (num_gpus_ - 1));
      }
    }
  }

  void join_nvlink(int a, int b, double rate) {
    graph_.join(a, b, LinkKind::kNvLink, rate, spec_.nvlink.latency);
  }

  const NodeSpec& spec_;
  int num_gpus_;
  NodeGraph graph_;
  std::vector<int> gpus_;
  std::vector<int> nics_;
  std::vector<int> nvswitches_;
  std::vector<int> pcie_switches_;
  std::vector<int> sockets_;
};

}  // namespace

int NodeGraph::add(ElementKind kind) {
  parts.push_back({kind, count(kind)});
  return static_cast<int>(parts.size()) - 1;
}

int NodeGraph::count(ElementKind kind) const {
  return static_cast<int>(std::count_if(
      parts.begin(), parts.end(), [&](const Part& part) { return part.kind == kind; }));
}

void NodeGraph::join(int a, int b, LinkKind kind, double rate, double latency) {
  cables.push_back({.a = a, .b = b, .kind = kind, .rate = rate, .latency = latency});
}

void NodeGraph::add_memory(int socket, double rate) {
  join(socket, add(ElementKind::kMemory), LinkKind::kMemory, rate);
  cables.back().half_duplex = true;
}

NodeGraph generate_node(const NodeSpec& spec, int num_gpus) {
  return Generator(spec, num_gpus).run();
}

}  // namespace moesim
