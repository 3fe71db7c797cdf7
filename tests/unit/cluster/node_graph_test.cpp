// What the generator of nodes makes of its parameters. Parts are counted by kind; a cable is one
// for both ways.
#include "sim/cluster/node_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cluster/imported_graph.h"
#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

using testing::HasSubstr;

NodeSpec box() {
  NodeSpec spec;
  spec.pcie_rate = 10e9;
  spec.nic_pcie_rate = 10e9;
  spec.memory_rate = 100e9;
  return spec;
}

NodeSpec joined(NvLinkForm form, int switches = 1) {
  NodeSpec spec = box();
  spec.nvlink = {.form = form, .rate = 12e9, .latency = 1e-7, .switches = switches};
  return spec;
}

int num_cables(const NodeGraph& graph, LinkKind kind) {
  return static_cast<int>(
      std::ranges::count_if(graph.cables, [&](const Cable& cable) { return cable.kind == kind; }));
}

// 4 GPUs to each of 3 NVSwitches: 12 cables of 12/3 GB/s.
TEST(GenerateNodeTest, NvSwitches) {
  const NodeGraph graph = generate_node(joined(NvLinkForm::kSwitch, 3), 4);
  EXPECT_EQ(graph.count(ElementKind::kNvSwitch), 3);
  EXPECT_EQ(num_cables(graph, LinkKind::kNvLink), 12);
  EXPECT_EQ(rate_between(graph, "gpu:3", "nvswitch:2"), 4e9);
  EXPECT_EQ(rate_between(graph, "gpu:0", "gpu:1"), 0);
}

// All of a GPU's links go to its neighbour.
TEST(GenerateNodeTest, Pairs) {
  const NodeGraph graph = generate_node(joined(NvLinkForm::kPairs), 4);
  EXPECT_EQ(num_cables(graph, LinkKind::kNvLink), 2);
  EXPECT_EQ(rate_between(graph, "gpu:0", "gpu:1"), 12e9);
  EXPECT_EQ(rate_between(graph, "gpu:2", "gpu:3"), 12e9);
  EXPECT_EQ(rate_between(graph, "gpu:1", "gpu:2"), 0);
}

// 4*3/2 = 6 pairs with a third of a GPU's rate each.
TEST(GenerateNodeTest, Mesh) {
  const NodeGraph graph = generate_node(joined(NvLinkForm::kMesh), 4);
  EXPECT_EQ(num_cables(graph, LinkKind::kNvLink), 6);
  EXPECT_EQ(rate_between(graph, "gpu:0", "gpu:3"), 4e9);
}

TEST(GenerateNodeTest, NoNvLink) {
  EXPECT_EQ(num_cables(generate_node(box(), 4), LinkKind::kNvLink), 0);
  EXPECT_EQ(num_cables(generate_node(joined(NvLinkForm::kMesh), 1), LinkKind::kNvLink), 0);
}

// Each GPU at a root port of its own, half of them on each socket.
TEST(GenerateNodeTest, GpusAtRootPorts) {
  NodeSpec spec = box();
  spec.sockets = 2;
  spec.socket_interconnect_rate = 20e9;
  const NodeGraph graph = generate_node(spec, 4);
  EXPECT_EQ(graph.count(ElementKind::kRootPort), 4);
  EXPECT_EQ(above(graph, "gpu:1"), "root_port:1");
  EXPECT_EQ(rate_between(graph, "root_port:1", "socket:0"), 10e9);
  EXPECT_EQ(rate_between(graph, "root_port:2", "socket:1"), 10e9);
  EXPECT_EQ(rate_between(graph, "socket:0", "socket:1"), 20e9);
  EXPECT_EQ(rate_between(graph, "socket:1", "memory:1"), 100e9);
}

// Memory's reads and writes share its rate; nothing else is half duplex.
TEST(GenerateNodeTest, OnlyMemoryIsHalfDuplex) {
  for (const Cable& cable : generate_node(joined(NvLinkForm::kSwitch), 4).cables) {
    EXPECT_EQ(cable.half_duplex, cable.kind == LinkKind::kMemory);
  }
}

// 8 GPUs in pairs behind 4 switches; 4 NICs there too, one each.
TEST(GenerateNodeTest, NicsAtSwitches) {
  NodeSpec spec = box();
  spec.sockets = 2;
  spec.gpus_per_pcie_switch = 2;
  spec.nics = 4;
  spec.nic_rate = 5e9;
  const NodeGraph graph = generate_node(spec, 8);
  EXPECT_EQ(graph.count(ElementKind::kPcieSwitch), 4);
  EXPECT_EQ(above(graph, "gpu:3"), "pcie_switch:1");
  EXPECT_EQ(above(graph, "nic:3"), "pcie_switch:3");
  EXPECT_EQ(above(graph, "pcie_switch:2"), "root_port:2");
  EXPECT_EQ(rate_between(graph, "root_port:2", "socket:1"), 10e9);
  EXPECT_EQ(graph.nic_rates, (std::vector<double>{5e9, 5e9, 5e9, 5e9}));
}

// With a PCIe link of its own rate, on both sides of its root port. NICs go to sockets in equal
// runs: the first of two to socket 0.
TEST(GenerateNodeTest, NicsAtRootPorts) {
  NodeSpec spec = box();
  spec.sockets = 2;
  spec.nics = 2;
  spec.nic_rate = 5e9;
  spec.nic_pcie_rate = 30e9;
  spec.nic_placement = NicPlacement::kRootPort;
  const NodeGraph graph = generate_node(spec, 4);
  EXPECT_EQ(above(graph, "nic:0"), "root_port:4");  // behind those of four GPUs
  EXPECT_EQ(rate_between(graph, "nic:0", "root_port:4"), 30e9);
  EXPECT_EQ(rate_between(graph, "root_port:4", "socket:0"), 30e9);
  EXPECT_EQ(rate_between(graph, "root_port:5", "socket:1"), 30e9);
}

// A root port is within the processor: only the cable to it takes time.
TEST(GenerateNodeTest, Latencies) {
  NodeSpec spec = joined(NvLinkForm::kSwitch);
  spec.pcie_latency = 5e-7;
  for (const Cable& cable : generate_node(spec, 2).cables) {
    const double expected = cable.kind == LinkKind::kNvLink                            ? 1e-7
                            : cable.kind == LinkKind::kPcie && cable.a < 2 /* a GPU */ ? 5e-7
                                                                                       : 0;
    EXPECT_EQ(cable.latency, expected);
  }
}

TEST(GenerateNodeTest, WhatDoesNotDivide) {
  const auto error = [](int sockets, int per_switch, NvLinkForm form, int gpus) {
    NodeSpec spec = joined(form);
    spec.sockets = sockets;
    spec.gpus_per_pcie_switch = per_switch;
    return error_of([&] { generate_node(spec, gpus); });
  };
  EXPECT_EQ(error(2, 0, NvLinkForm::kSwitch, 3), "3 GPUs do not divide by 2 sockets");
  EXPECT_EQ(error(2, 2, NvLinkForm::kSwitch, 6),
            "3 GPUs of a socket do not divide by 2 to a PCIe switch");
  EXPECT_EQ(error(1, 0, NvLinkForm::kPairs, 3), "3 GPUs do not divide by 2 to an NVLink bridge");
}

TEST(GenerateNodeTest, AbsurdCounts) {
  NodeSpec spec = joined(NvLinkForm::kSwitch, 2000);
  EXPECT_THAT(error_of([&] { generate_node(spec, 4); }), HasSubstr("2000 NVSwitches in a node"));
  EXPECT_THAT(error_of([&] { generate_node(joined(NvLinkForm::kMesh), 1 << 20); }),
              HasSubstr("1048576 GPUs in a node; it may have 1024"));
}

}  // namespace
}  // namespace moesim
