// Nodes that a cluster file imports.
#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/cluster/build_topology.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "tests/unit/cluster/example_dumps.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ImportNodeTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file_atomically(testing::TempDir() + "topology.xml", nvswitch_example().dump.text);
    write_file_atomically(testing::TempDir() + "matrix.txt", bridge_matrix_example().dump.text);
  }

  // A cluster of two nodes whose file lies beside the dumps; `nodes` begins in line 2.
  static Cluster read(int gpus_per_node, const std::string& nodes) {
    return parse_cluster("num_nodes: 2 gpus_per_node: " + std::to_string(gpus_per_node) +
                             " gpu_memory: \"80 GB\"\n" + nodes + "\nfabric { single_switch {} }\n",
                         testing::TempDir() + "cluster.txtpb");
  }

  static std::string error_of(int gpus_per_node, const std::string& nodes) {
    try {
      build_topology(read(gpus_per_node, nodes));
    } catch (const Error& error) {
      const std::string what = error.what();
      return what.substr(what.find(testing::TempDir()) + testing::TempDir().size());
    }
    return "";
  }
};

TEST_F(ImportNodeTest, IsFoundBesideTheClusterAndJoinedByItsFabric) {
  const Topology topology =
      build_topology(read(2, R"(nodes { import: "topology.xml" memory_rate: "100 GB/s" })"));
  EXPECT_EQ(topology.gpus().size(), 4U);
  EXPECT_EQ(topology.nics().size(), 6U);
}

TEST_F(ImportNodeTest, MixesWithOtherNodes) {
  const Topology topology = build_topology(read(2, R"(nodes { import: "topology.xml" count: 1 }
      nodes { node { pcie_rate: "30 GB/s" memory_rate: "200 GB/s" nics: 1 nic_rate: "25 GB/s"
                     nic_placement: ROOT_PORT } })"));
  EXPECT_EQ(topology.gpus().size(), 4U);
  EXPECT_EQ(topology.nics().size(), 4U);
}

TEST_F(ImportNodeTest, ErrorsStandAtTheGroupOrInTheDump) {
  EXPECT_THAT(error_of(4, R"(nodes { import: "topology.xml" })"),
              StartsWith("cluster.txtpb:2:1: "));
  EXPECT_THAT(error_of(4, R"(nodes { import: "topology.xml" })"),
              HasSubstr("has 2 GPUs and gpus_per_node is 4; write gpus_per_node: 2"));
  EXPECT_THAT(error_of(4, R"(nodes { import: "matrix.txt" })"),
              HasSubstr("write pcie_rate, nic_rate, memory_rate, socket_interconnect_rate, "
                        "nvlink_link_rate beside import"));
  write_file_atomically(testing::TempDir() + "graph.xml", "\n<graphs/>");
  EXPECT_THAT(error_of(2, R"(nodes { import: "graph.xml" })"), StartsWith("graph.xml:2:2: "));
}

TEST_F(ImportNodeTest, FieldsThatDoNotBelongAreRefused) {
  EXPECT_THAT(error_of(2, R"(nodes { nic_rate: "1 GB/s" node { pcie_rate: "1 GB/s"
                                                                memory_rate: "1 GB/s" } })"),
              HasSubstr("only an import is completed so"));
  EXPECT_THAT(
      error_of(2, R"(nodes { import: "topology.xml" nvlink { form: NONE rate: "1 GB/s" } })"),
      HasSubstr("form NONE has no links; remove it"));
  EXPECT_THAT(error_of(2, R"(nodes { import: "topology.xml" nvlink { form: NONE } })"),
              HasSubstr("says how GPUs are joined; remove it"));
}

TEST_F(ImportNodeTest, AGeneratedNodeMaySayThatItHasNoNvLinks) {
  const Topology topology = build_topology(read(2, R"(nodes { node { pcie_rate: "30 GB/s"
      memory_rate: "200 GB/s" nics: 1 nic_rate: "25 GB/s" nic_placement: ROOT_PORT
      nvlink { form: NONE } } })"));
  for (const Link& link : topology.links()) {
    EXPECT_NE(link.kind, LinkKind::kNvLink);
  }
}

}  // namespace
}  // namespace moesim
