#include <gmock/gmock.h>

#include "tests/unit/cluster/imported_graph.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// With all the rates that such a node needs, and no others.
ExampleDump matrix(const std::string& text, int num_gpus, bool has_nics, int num_sockets) {
  ExampleDump example = pcie_matrix_example();
  example.num_gpus = num_gpus;
  example.dump.text = text;
  example.dump.nic_rate = has_nics ? 12.5e9 : 0;
  example.dump.socket_interconnect_rate = num_sockets > 1 ? 20e9 : 0;
  return example;
}

// GPU0 and NIC0 below one switch, GPU1 below another of the same root port, GPU2 and NIC1 at root
// ports of the other socket.
TEST(SmiTopologyTest, DevicesHangAsFarApartAsTheMatrixSays) {
  const NodeGraph graph = import_example(pcie_matrix_example());
  EXPECT_EQ(graph.count(ElementKind::kGpu), 3);
  EXPECT_EQ(graph.count(ElementKind::kNic), 2);
  EXPECT_EQ(graph.count(ElementKind::kPcieSwitch), 3);
  EXPECT_EQ(graph.count(ElementKind::kSocket), 2);
  EXPECT_EQ(above(graph, "gpu:0"), above(graph, "nic:0"));
  EXPECT_NE(above(graph, "gpu:0"), above(graph, "gpu:1"));
  const std::string top = above(graph, above(graph, "gpu:0"));
  EXPECT_EQ(top, above(graph, above(graph, "gpu:1")));
  EXPECT_EQ(above(graph, above(graph, top)), "socket:0");
  EXPECT_EQ(above(graph, above(graph, "gpu:2")), "socket:1");
  EXPECT_EQ(above(graph, above(graph, "nic:1")), "socket:1");
  EXPECT_NE(above(graph, "gpu:2"), above(graph, "nic:1"));
}

TEST(SmiTopologyTest, RatesAreThoseOfTheFields) {
  const NodeGraph graph = import_example(pcie_matrix_example());
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:0", above(graph, "gpu:0")), 30e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "socket:0", "memory:0"), 200e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "socket:0", "socket:1"), 20e9);
  EXPECT_THAT(graph.nic_rates, ElementsAre(12.5e9, 12.5e9));
}

TEST(SmiTopologyTest, MissingRatesAreNamedTogether) {
  ExampleDump example = pcie_matrix_example();
  NodeDump bare;
  bare.path = example.dump.path;
  bare.text = example.dump.text;
  example.dump = bare;
  EXPECT_EQ(import_error(example),
            "matrix.txt does not say enough; write pcie_rate, nic_rate, memory_rate, "
            "socket_interconnect_rate beside import");
}

// 3 · 12 links are more than a GPU has: NVSwitches. 12 links: A100, 25 GB/s each.
TEST(SmiTopologyTest, MoreLinksThanAMeshAreNvSwitches) {
  const NodeGraph graph = import_example(nvswitch_matrix_example());
  EXPECT_EQ(graph.count(ElementKind::kNvSwitch), 1);
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:3", "nvswitch:0"), 300e9);
  EXPECT_EQ(graph.count(ElementKind::kSocket), 2);
  EXPECT_EQ(above(graph, above(graph, "gpu:1")), "socket:0");
  EXPECT_EQ(above(graph, above(graph, "gpu:2")), "socket:1");
  EXPECT_THAT(inferred(graph), HasSubstr("NV12 between all of 4 GPUs"));
  EXPECT_THAT(inferred(graph), HasSubstr("nvlink_link_rate 25 GB/s: NVLink 3"));
}

// 3 · 4 = 12 links, as A100 has: from each GPU to each.
TEST(SmiTopologyTest, AsManyLinksAsAMeshAreDirect) {
  ExampleDump example = nvswitch_matrix_example();
  for (int i = 0; i < 12; ++i) {
    example = changed(example, "NV12", "NV4 ");
  }
  const NodeGraph graph = import_example(example);
  EXPECT_EQ(graph.count(ElementKind::kNvSwitch), 0);
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:0", "gpu:3"), 100e9);
}

TEST(SmiTopologyTest, BridgesJoinPairs) {
  const NodeGraph graph = import_example(bridge_matrix_example());
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:0", "gpu:1"), 56e9);  // 4 links of 14
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:2", "gpu:3"), 56e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:1", "gpu:2"), 0);
  EXPECT_EQ(graph.count(ElementKind::kNic), 1);
}

// Four links may be of a P100 or an A6000.
TEST(SmiTopologyTest, AnAmbiguousGenerationIsAskedFor) {
  ExampleDump example = bridge_matrix_example();
  example.dump.nvlink_link_rate = 0;
  EXPECT_EQ(import_error(example),
            "matrix.txt does not say enough; write nvlink_link_rate beside import");
}

// NVLink hides that GPU0 and GPU1 share a switch; that both are PIX to NIC0 shows it.
TEST(SmiTopologyTest, NicsShowWhereGpusWithNvLinksHang) {
  const NodeGraph graph =
      import_example(matrix("GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\n"
                            "GPU0 X NV12 PIX 0-7 0\n"
                            "GPU1 NV12 X PIX 0-7 0\n"
                            "NIC0 PIX PIX X\n",
                            2,
                            true,
                            1));
  EXPECT_EQ(graph.count(ElementKind::kPcieSwitch), 1);
  EXPECT_EQ(above(graph, "gpu:0"), above(graph, "gpu:1"));
  EXPECT_THAT(inferred(graph), HasSubstr("how near GPUs with NVLinks are"));
}

struct Change {
  const char* from;
  const char* to;
};

std::vector<std::pair<int, int>> ends(const NodeGraph& graph) {
  std::vector<std::pair<int, int>> ends;
  for (const Cable& cable : graph.cables) {
    ends.emplace_back(cable.a, cable.b);
  }
  return ends;
}

// Cells that stand together, and rows a field short, which the columns fill in.
TEST(SmiTopologyTest, DamagedRowsSayTheSame) {
  const auto whole = ends(import_example(pcie_matrix_example()));
  const Change changes[] = {
      {"\tPXB\tSYS\tPIX", "\tPXBSYSPIX"},                   // fused cells
      {"GPU1\tPXB\t X \tSYS", "GPU1\tPXBX SYS"},            // with the row's own
      {"SYS\t0-7", "SYS0-7"},                               // with the affinity
      {"GPU0\tGPU1", "GPU0GPU1"},                           // names of columns
      {"NIC1\tCPU", "NIC1CPU"},                             // and the affinity's
      {"\tNUMA Affinity\tGPU NUMA ID", ""},                 // no such columns
      {"NIC0\tPIX\tPXB", "NIC0\tPXB"},                      // short before its own column
      {"SYS\tSYS\tPHB\tSYS\t X ", "SYS\tSYS\tPHB"},         // short at it
      {"GPU1\tPXB\t X \tSYS\tPXB", "GPU1\tPXB\t X \tPXB"},  // short behind it
      {"\nNIC1\tSYS\tSYS", "\nNIC9\tSYS\tSYS"},             // a row of nothing
  };
  for (const Change& change : changes) {
    EXPECT_EQ(ends(import_example(changed(pcie_matrix_example(), change.from, change.to))), whole)
        << change.to;
  }
}

TEST(SmiTopologyTest, TabsAndLineEndsDoNotMatter) {
  std::string text;
  for (const char character : pcie_matrix_example().dump.text) {
    text += character == '\n' ? "\r\n" : character == '\t' ? "  " : std::string(1, character);
  }
  EXPECT_EQ(ends(import_example(matrix("$ nvidia-smi topo -m\r\n" + text, 3, true, 2))),
            ends(import_example(pcie_matrix_example())));
}

// The row of NIC1 and its relation to NIC0 are lost. Both are SYS from where the other is.
TEST(SmiTopologyTest, CutRowsOfNicsAreInferred) {
  ExampleDump example = pcie_matrix_example();
  example.dump.text.resize(example.dump.text.find("NIC0\tPIX") + 12);
  const NodeGraph graph = import_example(example);
  EXPECT_EQ(ends(graph), ends(import_example(pcie_matrix_example())));
  EXPECT_THAT(inferred(graph), HasSubstr("the output is cut"));
}

TEST(SmiTopologyTest, CutRowsOfGpusAreRefused) {
  ExampleDump example = pcie_matrix_example();
  example.dump.text.resize(example.dump.text.find("GPU2\tSYS") + 14);
  EXPECT_THAT(import_error(example),
              StartsWith("matrix.txt:4:1: no cell of GPU2 and NIC0, as the output is cut"));
  example.dump.text.resize(example.dump.text.find("GPU2\tSYS"));
  EXPECT_THAT(import_error(example), HasSubstr("GPU2"));
}

TEST(SmiTopologyTest, WithoutAffinitiesGpusShareASocket) {
  EXPECT_EQ(import_example(matrix("GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12 X\n", 2, false, 1))
                .count(ElementKind::kSocket),
            1);
}

TEST(SmiTopologyTest, OtherTextsAreRefusedByName) {
  EXPECT_EQ(import_error(matrix("$ nvidia-smi topo -p2p r\n"
                                " \tGPU0\tGPU1\n"
                                " GPU0\tX\tOK\n"
                                " GPU1\tOK\tX\n",
                                2,
                                false,
                                1)),
            "matrix.txt:3:9: what nvidia-smi topo -p2p prints: whether GPUs may reach each other, "
            "not how they are joined; print nvidia-smi topo -m");
  for (const char* text : {"", "\n\n", "bash: nvidia-smi: command not found\n"}) {
    EXPECT_THAT(import_error(matrix(text, 2, false, 1)),
                StartsWith("matrix.txt: neither an NCCL topology"));
  }
}

TEST(SmiTopologyTest, MistakesAreLocated) {
  struct Mistake {
    const char* from;
    const char* to;
    const char* error;
  };
  const Mistake mistakes[] = {
      {"PXB\tSYS\tPIX", "PXB\tSYX\tPIX", "matrix.txt:2:14: 'SYX' is no cell"},
      {"GPU1\tPXB\t X", "GPU1\tPIX\t X", "GPU1 and GPU0 do not agree"},
      {"GPU1\tPXB\t X \tSYS", "GPU1\tX\tPXB\tSYS", "row GPU1 does not fit the columns"},
      {"GPU1\tPXB\t X", "GPU1\tX\t X", "row GPU1 does not fit the columns"},
      {"GPU2\tSYS", "GPU1\tSYS", "a second row GPU1"},
      {"\tNIC0\tNIC1", "\tNIC0\tNIC0", "a second column NIC0"},
      {"GPU2\tNIC0", "NIC0\tGPU2", "a GPU behind a NIC"},
      {"\nGPU2\tSYS\tSYS\t X \tSYS\tPHB", "\n", "no row GPU2"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(import_error(changed(pcie_matrix_example(), mistake.from, mistake.to)),
                HasSubstr(mistake.error))
        << mistake.to;
  }
}

// NIC0 is PIX to both GPUs, which are SYS apart: no tree is like that.
TEST(SmiTopologyTest, MatricesOfNoTreeAreRefused) {
  EXPECT_THAT(import_error(matrix("GPU0 GPU1 NIC0\n"
                                  "GPU0 X SYS PIX\n"
                                  "GPU1 SYS X PIX\n"
                                  "NIC0 PIX PIX X\n",
                                  2,
                                  true,
                                  1)),
              StartsWith("matrix.txt:2:1: GPU0 and GPU1 are farther apart"));
}

TEST(SmiTopologyTest, NoGpuHasSoManyNvLinks) {
  EXPECT_THAT(import_error(matrix("GPU0 GPU1 GPU2\n"
                                  "GPU0 X NV12 NV8\n"
                                  "GPU1 NV12 X NV8\n"
                                  "GPU2 NV8 NV8 X\n",
                                  3,
                                  false,
                                  1)),
              StartsWith("matrix.txt:2:1: 20 NVLinks of GPU0"));
}

}  // namespace
}  // namespace moesim
