#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace moesim {

// How GPUs are joined, as a cluster file describes it. Rates are in bytes per second and of each
// way, latencies in seconds.

enum class NvLinkForm { kSwitch, kPairs, kMesh, kNoLinks };

struct NvLinkSpec {
  NvLinkForm form = NvLinkForm::kSwitch;
  double rate = 0;  // of a GPU, all its links together; 0: none
  double latency = 0;
  int switches = 1;
};

enum class NicPlacement { kSwitch, kRootPort };

// A node as a generator makes it.
struct NodeSpec {
  int sockets = 1;
  int gpus_per_pcie_switch = 0;  // 0: each GPU at a root port of its own
  double pcie_rate = 0;
  double pcie_latency = 0;
  NvLinkSpec nvlink;
  double socket_interconnect_rate = 0;  // 0: none
  double memory_rate = 0;               // reads and writes together
  int nics = 0;
  double nic_rate = 0;
  double nic_pcie_rate = 0;
  NicPlacement nic_placement = NicPlacement::kSwitch;
};

// A node as a tool printed it, and beside it what the tool does not say; a rate of 0 is not given.
struct NodeDump {
  std::string path;
  std::string text;
  double pcie_rate = 0;
  double nic_rate = 0;
  double memory_rate = 0;
  double socket_interconnect_rate = 0;
  double nvlink_link_rate = 0;       // of one link
  std::optional<NvLinkSpec> nvlink;  // where the tool knows of none
};

struct NodeGroup {
  std::string location;  // in the cluster's file, for messages
  int count = 0;
  std::variant<NodeSpec, NodeDump> node;
};

// How far apart two GPUs of a node may be to reach each other over PCIe.
enum class PeerAccess { kSystem, kSocket, kPcieSwitch, kNever };

struct TransferSpec {
  PeerAccess peer_access = PeerAccess::kSystem;
  bool gpudirect = true;  // NICs read and write the memory of GPUs
  bool pxn = false;
};

struct SingleSwitch {};

struct FatTree {
  std::vector<int> down;                 // by level, from the leaves: what hangs below one switch
  std::vector<double> oversubscription;  // by level below the top
  bool rails = false;
};

struct Dragonfly {
  int routers_per_group = 0;
  int nics_per_router = 0;
  int global_links_per_router = 0;
};

struct Torus {
  std::vector<int> dimensions;
  int nics_per_router = 0;
};

enum class FabricRouting { kSpray, kDmodk, kHash };

struct FabricSpec {
  std::string location;  // in the cluster's file, for messages
  std::variant<SingleSwitch, FatTree, Dragonfly, Torus> kind;
  double link_rate = 0;  // between switches; 0: the NICs'
  double link_latency = 0;
  FabricRouting routing = FabricRouting::kSpray;
  uint64_t seed = 0;
};

enum class LinkKind { kAny, kNvLink, kPcie, kInterconnect, kMemory, kNetwork };

struct LinkChange {
  std::string at;
  std::string location;  // of `at` in its file, for messages
  LinkKind kind = LinkKind::kAny;
  double rate_factor = 1;
  bool remove = false;
};

struct Wiring {
  std::vector<NodeGroup> nodes;  // at least one; counts add up to the cluster's nodes
  FabricSpec fabric;
  TransferSpec transfers;
  std::vector<LinkChange> changes;
};

}  // namespace moesim
