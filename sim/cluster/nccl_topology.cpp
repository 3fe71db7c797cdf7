#include "sim/cluster/nccl_topology.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/cluster/nccl_links.h"
#include "sim/cluster/xml_element.h"

namespace moesim {
namespace {

using Device = ImportedNode::Device;

constexpr int kMaxDevices = 4096;
constexpr int kMaxSockets = 256;
constexpr int kMaxMegabits = 100'000'000;

bool is_class(const XmlElement& pci, const char* start) {
  return pci.attribute("class").starts_with(start);
}

// Without a vendor any; that of a monitor's chip on the mainboard is another one.
bool is_gpu(const XmlElement& pci) {
  const std::string vendor = pci.attribute("vendor");
  const bool makes_gpus = vendor == "0x10de" || vendor == "0x1002";
  return (is_class(pci, "0x0302") && (vendor.empty() || makes_gpus)) ||
         (makes_gpus && (is_class(pci, "0x0300") || is_class(pci, "0x1200")));
}

bool is_nic(const XmlElement& pci) {
  return is_class(pci, "0x0200") || is_class(pci, "0x0207");
}

// "32.0 GT/s PCIe" and 16 lanes. 0 where Linux did not know: "", "Unknown", no lanes.
double link_rate(const XmlElement& pci) {
  const std::string speed = pci.attribute("link_speed");
  const int lanes = pci.integer("link_width", 0, 255).value_or(0);
  if (speed.empty() || speed.starts_with("Unknown") || lanes == 0) {
    return 0;
  }
  double gigatransfers = 0;
  const auto [stop, problem] =
      std::from_chars(speed.data(), speed.data() + speed.size(), gigatransfers);
  const std::string unit(stop, speed.data() + speed.size());
  const auto rate = pcie_rate(gigatransfers, lanes);
  if (problem != std::errc() || (unit != " GT/s" && unit != " GT/s PCIe") || !rate.has_value()) {
    throw pci.error(fmt::format(
        "no PCIe link has link_speed=\"{}\" and {} lanes; dump it again", speed, lanes));
  }
  return *rate;
}

// Bytes per second; 0 where the network's driver did not say.
double net_rate(const XmlElement& net) {
  return std::max(net.integer("speed", -1, kMaxMegabits).value_or(0), 0) * 1e6 / 8;
}

class Reader {
 public:
  explicit Reader(const XmlElement& root)
      : root_(root), has_gpus_(root.count("gpu") > 0), has_nets_(root.count("net") > 0) {}

  ImportedNode run() {
    for (const XmlElement& child : root_.children) {
      if (child.name == "cpu") {
        add_socket(child);
      } else {
        leave_out(child);
      }
    }
    if (node_.count(ElementKind::kGpu) == 0) {
      throw root_.error("no GPU in it; dump it where the GPUs are");
    }
    if (has_gpus_) {
      sort_gpus();
    }
    read_nccl_links(gpus_, has_gpus_, node_);
    add_notes();
    return std::move(node_);
  }

 private:
  struct Place {
    int socket = 0;
    int parent = kNone;
  };

  void add_socket(const XmlElement& cpu) {
    if (hosts_.insert(cpu.attribute("host_hash")).second && hosts_.size() > 1) {
      throw cpu.error("a second host begins here; dump a node alone, in a run on one node");
    }
    if (node_.sockets.size() == kMaxSockets) {
      throw cpu.error(fmt::format("more than {} sockets; dump a node alone", kMaxSockets));
    }
    const Processor processor = {.architecture = cpu.attribute("arch"),
                                 .vendor = cpu.attribute("vendor"),
                                 .family = cpu.integer("familyid", 0, 0xfff).value_or(0),
                                 .model = cpu.integer("modelid", 0, 0xfff).value_or(0)};
    const Place place = {.socket = static_cast<int>(node_.sockets.size())};
    node_.sockets.push_back({.memory = memory_rate(processor).value_or(KnownRate()),
                             .interconnect = interconnect_rate(processor).value_or(KnownRate())});
    for (const XmlElement& child : cpu.children) {
      if (child.name == "pci") {
        add_pci(child, place);
      } else if (child.name == "nic") {
        add_virtual_nics(child, place);
      } else {
        leave_out(child);
      }
    }
  }

  void add_pci(const XmlElement& pci, const Place& place) {
    const Device device = {
        .socket = place.socket, .parent = place.parent, .pcie_rate = link_rate(pci)};
    std::vector<const XmlElement*> gpus;
    std::vector<const XmlElement*> nets;
    std::vector<const XmlElement*> below;
    sort_children(pci, gpus, nets, below);
    const bool is_bridge = is_class(pci, "0x0604");
    if (!below.empty() && !is_bridge) {
      throw below.front()->error("a device below one that is no bridge; dump it again");
    }
    if (gpus.size() > 1) {
      throw gpus[1]->error("a second GPU of one device: partitions are not known; switch MIG off");
    }
    if (!gpus.empty() || (!has_gpus_ && is_gpu(pci))) {
      add_gpu(device, pci, gpus.empty() ? pci : *gpus.front());
    } else if (!nets.empty() || (!has_nets_ && is_nic(pci))) {
      add_nics(device, pci, nets);
    } else if (is_bridge) {
      add_bridge(device, pci, below);
    } else if (is_gpu(pci) || is_nic(pci)) {
      ++num_unused_;
    }
  }

  void sort_children(const XmlElement& pci,
                     std::vector<const XmlElement*>& gpus,
                     std::vector<const XmlElement*>& nets,
                     std::vector<const XmlElement*>& below) {
    for (const XmlElement& child : pci.children) {
      if (child.name == "gpu") {
        gpus.push_back(&child);
      } else if (child.name == "pci") {
        below.push_back(&child);
      } else if (child.name == "nic") {
        collect_nets(child, nets);
      } else {
        leave_out(child);
      }
    }
  }

  void collect_nets(const XmlElement& nic, std::vector<const XmlElement*>& nets) {
    for (const XmlElement& child : nic.children) {
      if (child.name == "net") {
        nets.push_back(&child);
      } else {
        leave_out(child);
      }
    }
  }

  int add(const XmlElement& element, const Device& device) {
    if (node_.devices.size() == kMaxDevices) {
      throw element.error(fmt::format("more than {} devices; dump a node alone", kMaxDevices));
    }
    node_.devices.push_back(device);
    return static_cast<int>(node_.devices.size()) - 1;
  }

  void add_gpu(Device device, const XmlElement& pci, const XmlElement& gpu) {
    device.kind = ElementKind::kGpu;
    add(pci, device);
    gpus_.push_back({&pci, &gpu, gpu.integer("dev", 0, kMaxDevices).value_or(0)});
  }

  // Ports of one card share its link.
  void add_nics(Device device, const XmlElement& pci, const std::vector<const XmlElement*>& nets) {
    if (nets.size() > 1) {
      device.kind = ElementKind::kPcieSwitch;
      device.parent = add(pci, device);
      ++num_shared_;
    }
    device.kind = ElementKind::kNic;
    for (const XmlElement* net : nets) {
      device.nic_rate = net_rate(*net);
      add(*net, device);
    }
    if (nets.empty()) {
      add(pci, device);
      ++num_nics_by_class_;
    }
  }

  // NCCL gives NICs without a PCI device no limit of their own: their link is as fast as they are.
  void add_virtual_nics(const XmlElement& nic, const Place& place) {
    std::vector<const XmlElement*> nets;
    collect_nets(nic, nets);
    for (const XmlElement* net : nets) {
      const double rate = net_rate(*net);
      add(*net,
          {.kind = ElementKind::kNic,
           .socket = place.socket,
           .parent = kNone,
           .pcie_rate = rate,
           .nic_rate = rate});
      ++num_virtual_nics_;
    }
  }

  void add_bridge(Device device,
                  const XmlElement& pci,
                  const std::vector<const XmlElement*>& below) {
    device.kind = ElementKind::kPcieSwitch;
    const Place place = {.socket = device.socket, .parent = add(pci, device)};
    bool is_narrow = false;
    for (const XmlElement* child : below) {
      add_pci(*child, place);
      is_narrow |= device.pcie_rate < link_rate(*child);
    }
    num_narrow_ += is_narrow && device.pcie_rate > 0 ? 1 : 0;
  }

  // In the order of CUDA's numbers. GPUs are leaves: their places in the list are interchangeable.
  void sort_gpus() {
    std::vector<size_t> places;
    std::vector<Device> devices;
    for (size_t i = 0; i < node_.devices.size(); ++i) {
      if (node_.devices[i].kind == ElementKind::kGpu) {
        places.push_back(i);
        devices.push_back(node_.devices[i]);
      }
    }
    std::vector<size_t> order(gpus_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t gpu) { return gpus_[gpu].number; });
    std::vector<NcclGpu> sorted;
    for (size_t i = 0; i < order.size(); ++i) {
      node_.devices[places[i]] = devices[order[i]];
      sorted.push_back(gpus_[order[i]]);
      if (i > 0 && sorted[i].number == sorted[i - 1].number) {
        throw sorted[i].gpu->error(
            fmt::format("a second GPU with dev=\"{}\"; dump it again", sorted[i].number));
      }
    }
    gpus_ = std::move(sorted);
  }

  void leave_out(const XmlElement& element) { left_out_.emplace(element.name, element.location); }

  void note(const char* text, int count) {
    if (count > 0) {
      node_.inferred.push_back(fmt::format("{}: {}", text, count));
    }
  }

  void add_notes() {
    note("NUMA domains (cpu), taken for sockets", static_cast<int>(node_.sockets.size()));
    note("PCI devices of class 0x0302, 0x0300 or 0x1200, taken for the GPUs",
         has_gpus_ ? 0 : static_cast<int>(gpus_.size()));
    note("PCI devices of class 0x0200 or 0x0207, taken for the NICs", num_nics_by_class_);
    note("cards whose ports share a PCIe link, shown as PCIe switches", num_shared_);
    note("NICs without a PCI device, with a link as fast as they are", num_virtual_nics_);
    note("GPUs and NICs that NCCL did not use, left out", num_unused_);
    note(
        "PCIe switches that go up more slowly than a device below them (virtual ports of switches "
        "may say less than there is: then scale these links under changes)",
        num_narrow_);
    for (const auto& [name, location] : left_out_) {
      node_.inferred.push_back(fmt::format("<{}> is left out: {}", name, location));
    }
  }

  const XmlElement& root_;
  const bool has_gpus_;
  const bool has_nets_;
  ImportedNode node_;
  std::vector<NcclGpu> gpus_;
  std::set<std::string> hosts_;
  std::map<std::string, std::string> left_out_;  // by name: where the first was
  int num_shared_ = 0;
  int num_nics_by_class_ = 0;
  int num_virtual_nics_ = 0;
  int num_unused_ = 0;
  int num_narrow_ = 0;
};

}  // namespace

ImportedNode read_nccl_topology(const std::string& text, const std::string& path) {
  const XmlElement root = parse_xml(text, path);
  if (root.name == "graphs") {
    throw root.error(
        "the rings and trees that NCCL chose (NCCL_GRAPH_DUMP_FILE), not what is wired; import "
        "what it writes to NCCL_TOPO_DUMP_FILE");
  }
  if (root.name != "system") {
    throw root.error("no topology; import what NCCL writes to NCCL_TOPO_DUMP_FILE: <system …>");
  }
  const std::string version = root.attribute("version");
  if (version != "1" && version != "2") {
    throw root.error(fmt::format("version \"{}\" is not known; 1 and 2 are", version));
  }
  return Reader(root).run();
}

}  // namespace moesim
