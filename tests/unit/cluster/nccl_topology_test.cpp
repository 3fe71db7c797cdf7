#include <gmock/gmock.h>

#include "tests/unit/cluster/imported_graph.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// 16 lanes of 16 GT/s: 16 · 16 · 128/130 / 8 GB/s.
constexpr double kGen4 = 16e9 * 16 * 128 / 130 / 8;
constexpr double kGen5 = 2 * kGen4;

ExampleDump xml(const std::string& text) {
  ExampleDump example = nvswitch_example();
  example.dump.text = text;
  return example;
}

TEST(NcclTopologyTest, HasThePartsOfTheFile) {
  const NodeGraph graph = import_example(nvswitch_example());
  EXPECT_EQ(graph.count(ElementKind::kGpu), 2);
  EXPECT_EQ(graph.count(ElementKind::kNic), 3);
  EXPECT_EQ(graph.count(ElementKind::kNvSwitch), 2);
  EXPECT_EQ(graph.count(ElementKind::kPcieSwitch), 3);  // two bridges, a card of two ports
  EXPECT_EQ(graph.count(ElementKind::kRootPort), 2);
  EXPECT_EQ(graph.count(ElementKind::kSocket), 2);
  EXPECT_EQ(graph.count(ElementKind::kMemory), 2);
}

// dev="0" comes second in the file, on the second socket.
TEST(NcclTopologyTest, GpusAreInTheOrderOfTheirNumbers) {
  const NodeGraph graph = import_example(nvswitch_example());
  EXPECT_EQ(above(graph, "gpu:0"), "pcie_switch:1");
  EXPECT_EQ(above(graph, "gpu:1"), "pcie_switch:0");
  EXPECT_EQ(above(graph, above(graph, above(graph, "gpu:0"))), "socket:1");
}

TEST(NcclTopologyTest, PcieRatesAreThoseOfEachLink) {
  const NodeGraph graph = import_example(nvswitch_example());
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:1", "pcie_switch:0"), kGen5);
  EXPECT_DOUBLE_EQ(rate_between(graph, "nic:0", "pcie_switch:0"), kGen5 / 2);  // 8 lanes
  EXPECT_DOUBLE_EQ(rate_between(graph, "pcie_switch:0", "root_port:0"), kGen4);
  EXPECT_DOUBLE_EQ(rate_between(graph, "root_port:0", "socket:0"), kGen4);
  EXPECT_THAT(inferred(graph), HasSubstr("more slowly than a device below them"));
}

TEST(NcclTopologyTest, PortsOfACardShareItsLink) {
  const NodeGraph graph = import_example(nvswitch_example());
  EXPECT_EQ(above(graph, "nic:1"), "pcie_switch:2");
  EXPECT_EQ(above(graph, "nic:2"), "pcie_switch:2");
  EXPECT_DOUBLE_EQ(rate_between(graph, "pcie_switch:2", "pcie_switch:1"), kGen4);
  // 400 and 100 Gb/s.
  EXPECT_THAT(graph.nic_rates, testing::ElementsAre(50e9, 12.5e9, 12.5e9));
}

// NVSwitches are in the order of their bus ids: c1 has 3 links of each GPU, c2 has 2, of 25 GB/s.
TEST(NcclTopologyTest, NvLinksAreCountTimesTheGenerationsRate) {
  const NodeGraph graph = import_example(nvswitch_example());
  for (const char* gpu : {"gpu:0", "gpu:1"}) {
    EXPECT_DOUBLE_EQ(rate_between(graph, gpu, "nvswitch:0"), 75e9);
    EXPECT_DOUBLE_EQ(rate_between(graph, gpu, "nvswitch:1"), 50e9);
  }
  EXPECT_THAT(inferred(graph), HasSubstr("nvlink_link_rate 25 GB/s: NVLink 4 (sm 90)"));
}

TEST(NcclTopologyTest, SocketsAreInferredFromTheProcessor) {
  const NodeGraph graph = import_example(nvswitch_example());
  EXPECT_DOUBLE_EQ(rate_between(graph, "socket:0", "socket:1"), 22e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "socket:0", "memory:0"), 307.2e9);
  EXPECT_THAT(inferred(graph), HasSubstr("socket_interconnect_rate 22 GB/s"));
  EXPECT_THAT(inferred(graph), HasSubstr("memory_rate 307.2 GB/s"));
}

TEST(NcclTopologyTest, FieldsReplaceWhatIsInferred) {
  ExampleDump example = nvswitch_example();
  example.dump.memory_rate = 100e9;
  example.dump.socket_interconnect_rate = 50e9;
  example.dump.nvlink_link_rate = 10e9;
  const NodeGraph graph = import_example(example);
  EXPECT_DOUBLE_EQ(rate_between(graph, "socket:0", "memory:0"), 100e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "socket:0", "socket:1"), 50e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:0", "nvswitch:0"), 30e9);
  EXPECT_THAT(inferred(graph), Not(HasSubstr("GB/s")));
}

TEST(NcclTopologyTest, XgmiJoinsGpusDirectly) {
  const NodeGraph graph = import_example(xgmi_example());
  EXPECT_EQ(graph.count(ElementKind::kNvSwitch), 0);
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:0", "gpu:1"), 64e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:1", "gpu:2"), 64e9);
  EXPECT_DOUBLE_EQ(rate_between(graph, "socket:0", "memory:0"), 12 * 4800e6 * 8);
  EXPECT_EQ(above(graph, "gpu:2"), "root_port:1");
}

// 25 Gb/s: 3.125 GB/s on its network, and on a link of its own.
TEST(NcclTopologyTest, NicWithoutPciDeviceHasALinkOfItsOwnRate) {
  const NodeGraph graph = import_example(xgmi_example());
  EXPECT_THAT(graph.nic_rates, testing::ElementsAre(3.125e9));
  EXPECT_DOUBLE_EQ(rate_between(graph, "nic:0", above(graph, "nic:0")), 3.125e9);
}

TEST(NcclTopologyTest, VirtualMachinesPartsAreInferredByClass) {
  const NodeGraph graph = import_example(virtual_example());
  EXPECT_EQ(graph.count(ElementKind::kGpu), 2);
  EXPECT_EQ(graph.count(ElementKind::kNic), 1);
  EXPECT_THAT(graph.nic_rates, testing::ElementsAre(12.5e9));
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:0", "gpu:1"), 100e9);
  EXPECT_THAT(inferred(graph), HasSubstr("taken for the GPUs: 2"));
  EXPECT_THAT(inferred(graph), HasSubstr("taken for the NICs: 1"));
}

TEST(NcclTopologyTest, VirtualMachinesNeedWhatIsMissing) {
  ExampleDump example = virtual_example();
  example.dump.nic_rate = 0;
  example.dump.nvlink.reset();
  EXPECT_EQ(import_error(example),
            "topology.xml does not say enough; write nic_rate, nvlink (form: NONE if there is "
            "none) beside import");
  example = virtual_example();
  example.dump.nvlink = NvLinkSpec{.form = NvLinkForm::kNoLinks};
  EXPECT_DOUBLE_EQ(rate_between(import_example(example), "gpu:0", "gpu:1"), 0);
}

// What a virtual machine says of NVLink may be that a GPU is joined to itself.
TEST(NcclTopologyTest, LinksToNowhereAreNoAnswer) {
  ExampleDump example = nvswitch_example();
  for (int i = 0; i < 4; ++i) {
    example = changed(example, "tclass=\"0x068000\"", "tclass=\"0x030200\"");
  }
  EXPECT_THAT(import_error(example), HasSubstr("write nvlink (form: NONE"));
  example.dump.nvlink = NvLinkSpec{.form = NvLinkForm::kPairs, .rate = 100e9};
  const NodeGraph graph = import_example(example);
  EXPECT_DOUBLE_EQ(rate_between(graph, "gpu:0", "gpu:1"), 100e9);
  EXPECT_THAT(inferred(graph), HasSubstr("no other part of the dump, left out: 10"));
}

TEST(NcclTopologyTest, UnknownPcieRatesAreAskedFor) {
  ExampleDump example =
      changed(nvswitch_example(), "\"32.0 GT/s PCIe\" link_width=\"8\"", "\"\" link_width=\"0\"");
  EXPECT_EQ(import_error(example),
            "topology.xml does not say enough; write pcie_rate beside import");
  example.dump.pcie_rate = 1e9;
  EXPECT_DOUBLE_EQ(rate_between(import_example(example), "nic:0", "pcie_switch:0"), 1e9);
}

TEST(NcclTopologyTest, FieldsForNothingAreRefused) {
  ExampleDump example = nvswitch_example();
  example.dump.pcie_rate = 1e9;
  EXPECT_THAT(import_error(example), StartsWith("pcie_rate is for nothing"));
  example = nvswitch_example();
  example.dump.nvlink = NvLinkSpec{.rate = 1e9};
  EXPECT_THAT(import_error(example), StartsWith("nvlink is for nothing"));
  example = xgmi_example();
  example.dump.socket_interconnect_rate = 1e9;  // of one socket
  EXPECT_THAT(import_error(example), StartsWith("socket_interconnect_rate is for nothing"));
}

TEST(NcclTopologyTest, GpusMustBeAsManyAsTheClusterSays) {
  ExampleDump example = nvswitch_example();
  example.num_gpus = 8;
  EXPECT_THAT(import_error(example), HasSubstr("has 2 GPUs and gpus_per_node is 8"));
}

TEST(NcclTopologyTest, UnknownElementsAreLeftOutAndNamed) {
  const NodeGraph graph = import_example(
      changed(nvswitch_example(), "<nvlink", "<c2c bw=\"1\" count=\"1\"/>\n<nvlink"));
  EXPECT_THAT(inferred(graph), HasSubstr("<c2c> is left out: topology.xml:6:12"));
}

TEST(NcclTopologyTest, UnusedDevicesAreLeftOut) {
  const NodeGraph graph = import_example(
      changed(nvswitch_example(),
              "<pci busid=\"0000:11",
              "<pci busid=\"0000:13:00.0\" class=\"0x030200\"/><pci busid=\"0000:11"));
  EXPECT_EQ(graph.count(ElementKind::kGpu), 2);
  EXPECT_THAT(inferred(graph), HasSubstr("did not use, left out: 1"));
}

TEST(NcclTopologyTest, LineEndsAndByteOrderMarksDoNotMatter) {
  ExampleDump example = nvswitch_example();
  std::string text = "\xef\xbb\xbf\r\n";
  for (const char character : example.dump.text) {
    text += character == '\n' ? "\r\n" : std::string(1, character);
  }
  example.dump.text = text;
  EXPECT_EQ(inferred(import_example(example)), inferred(import_example(nvswitch_example())));
}

TEST(NcclTopologyTest, OtherFilesAreRefusedByName) {
  EXPECT_EQ(import_error(xml("<graphs version=\"1\"><graph id=\"0\"/></graphs>")),
            "topology.xml:1:2: <graphs>: the rings and trees that NCCL chose "
            "(NCCL_GRAPH_DUMP_FILE), not what is wired; import what it writes to "
            "NCCL_TOPO_DUMP_FILE");
  EXPECT_THAT(import_error(xml("<html></html>")), HasSubstr("<html>: no topology"));
  EXPECT_THAT(import_error(xml("<system version=\"3\"/>")), HasSubstr("version \"3\""));
  EXPECT_THAT(import_error(xml("<system version=\"1\"/>")), HasSubstr("no GPU in it"));
}

TEST(NcclTopologyTest, BrokenDocumentsAreLocated) {
  EXPECT_THAT(import_error(xml("<system version=\"1\">\n  <cpu></system>")),
              StartsWith("topology.xml:2:"));
  ExampleDump example = nvswitch_example();
  example.dump.text += example.dump.text;
  EXPECT_THAT(import_error(example), StartsWith("topology.xml:34:2: a second document"));
  std::string deep = "<system version=\"1\"><cpu>";
  for (int i = 0; i < 100'000; ++i) {
    deep += "<pci class=\"0x060400\">";
  }
  EXPECT_THAT(import_error(xml(deep)), Not(IsEmpty()));
  for (int i = 0; i < 100'000; ++i) {
    deep += "</pci>";
  }
  EXPECT_THAT(import_error(xml(deep + "</cpu></system>")), HasSubstr("nest deeper than 64"));
}

struct Mistake {
  const char* from;
  const char* to;
  const char* error;
};

TEST(NcclTopologyTest, MistakesAreLocatedAtTheirElement) {
  const Mistake mistakes[] = {
      {"link_speed=\"16.0 GT/s PCIe\"",
       "link_speed=\"17 GT/s\"",
       "topology.xml:3:6: <pci>: no PCIe"},
      {"link_width=\"16\"", "link_width=\"x\"", "topology.xml:3:6: <pci>: link_width=\"x\""},
      {"dev=\"1\"", "dev=\"0\"", "topology.xml:20:10: <gpu>: a second GPU with dev=\"0\""},
      {"dev=\"1\"", "dev=\"1\" dev=\"2\"", "topology.xml:5:10: <gpu>: 'dev' is given twice"},
      {"count=\"2\"", "count=\"-2\"", "topology.xml:6:12: <nvlink>: count=\"-2\""},
      {"count=\"2\"", "", "topology.xml:6:12: <nvlink>: no count"},
      {"speed=\"400000\"", "speed=\"fast\"", "topology.xml:12:12: <net>: speed=\"fast\""},
      {"busid=\"0000:21:00.0\"", "busid=\"00000000:11:00.0\"", "a second GPU with this busid"},
      {"<gpu dev=\"1\"", "<gpu dev=\"2\"/><gpu dev=\"1\"", "a second GPU of one device"},
      {"class=\"0x060400\"", "class=\"0x010802\"", "a device below one that is no bridge"},
      {"<cpu numaid=\"1\"", "<cpu host_hash=\"7\" numaid=\"1\"", "a second host begins here"},
      {"target=\"0000:c2:00.0\"",
       "target=\"0000:21:00.0\"",
       "but the GPU at their other end has 0"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(import_error(changed(nvswitch_example(), mistake.from, mistake.to)),
                HasSubstr(mistake.error));
  }
}

TEST(NcclTopologyTest, MoreThanANodeIsRefused) {
  std::string text = "<system version=\"1\">";
  for (int i = 0; i < 300; ++i) {
    text += "<cpu numaid=\"0\"/>";
  }
  EXPECT_THAT(import_error(xml(text + "</system>")), HasSubstr("more than 256 sockets"));
  std::string links;
  for (int i = 0; i < 300; ++i) {
    links += "<nvlink count=\"1\" tclass=\"0x068000\" target=\"" + std::to_string(i) + "\"/>";
  }
  EXPECT_THAT(import_error(changed(nvswitch_example(), "<nvlink", links + "<nvlink")),
              HasSubstr("more than 256 NVSwitches"));
  EXPECT_THAT(import_error(xml(std::string(17 << 20, ' '))), HasSubstr("more than 16 MiB"));
}

}  // namespace
}  // namespace moesim
