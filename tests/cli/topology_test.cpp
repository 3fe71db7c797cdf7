// moesim topology: show, check, export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/moesim_runner.h"

namespace moesim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class TopologyCommandTest : public testing::Test {
 protected:
  void SetUp() override { write(""); }

  void write(const std::string& more) const {
    workspace_.write("c.txtpb",
                     "num_nodes: 2 gpus_per_node: 2 gpu_memory: '1 GiB'\n"
                     "nodes { node { pcie_rate: '10 GB/s' memory_rate: '10 GB/s' nics: 1 "
                     "nic_rate: '1 GB/s' nic_placement: ROOT_PORT } }\n"
                     "fabric { single_switch {} }\n" +
                         more);
  }

  Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin(), "topology");
    return workspace_.run(words);
  }

  void expect_bad_usage(const std::vector<std::string>& words, const std::string& why) const {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << why;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(why));
  }

  Workspace workspace_;
};

TEST_F(TopologyCommandTest, Show) {
  const Outcome outcome = run({"show", "c.txtpb"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("c: 2 nodes of 2 GPUs"),
                    HasSubstr("bisection bandwidth: 1 GB/s"),
                    HasSubstr("route from rank 0 to 3: alone 1 GB/s")));
}

TEST_F(TopologyCommandTest, ShowARouteAsJson) {
  const Outcome outcome =
      run({"show", "c.txtpb", "--route", "1,5", "--json", "--set", "cluster.num_nodes=3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["num_nodes"], 3);
  ASSERT_EQ(json["routes"].size(), 1);
  EXPECT_EQ(json["routes"][0]["to"], 5);
}

TEST_F(TopologyCommandTest, CheckNamesTheParts) {
  const Outcome good = run({"check", "c.txtpb"});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.out, "c: every GPU of 4 reaches every other\n");
  write("changes { at: 'node:1/gpu:1' remove: true }\n");
  const Outcome bad = run({"check", "c.txtpb"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.out, IsEmpty());
  EXPECT_THAT(bad.err, AllOf(StartsWith("c.txtpb:2:"), HasSubstr("node:1/gpu:1")));
}

TEST_F(TopologyCommandTest, CheckIsQuickToRefuseTheAbsurd) {
  const Outcome bad = run({"check", "c.txtpb", "--set", "cluster.gpus_per_node=100000"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, AllOf(StartsWith("c.txtpb:2:"), HasSubstr("100000 GPUs in a node")));
}

TEST_F(TopologyCommandTest, ExportByEndingOrFormat) {
  EXPECT_THAT(run({"export", "c.txtpb"}).out, StartsWith("graph \"c\" {\n"));
  EXPECT_THAT(run({"export", "c.txtpb", "--format", "svg"}).out, StartsWith("<svg "));
  EXPECT_EQ(run({"export", "c.txtpb", "--out", "c.svg", "--node", "1"}).exit_code, 0);
  EXPECT_THAT(workspace_.read("c.svg"), HasSubstr("c: node 1"));
  for (const char* out : {"c.dot", "c.gv"}) {
    EXPECT_EQ(run({"export", "c.txtpb", "--out", out}).exit_code, 0);
    EXPECT_THAT(workspace_.read(out), StartsWith("graph \"c\" {\n"));
  }
  EXPECT_EQ(run({"export", "c.txtpb", "--out", "c.txt", "--format", "svg"}).exit_code, 0);
  EXPECT_THAT(workspace_.read("c.txt"), StartsWith("<svg "));
}

TEST_F(TopologyCommandTest, AClusterOfPortsHasNoLinks) {
  workspace_.write("p.txtpb",
                   "num_nodes: 2 gpus_per_node: 2 gpu_memory: '1 GiB' intra_node { rate: '1 GB/s' "
                   "} inter_node { rate: '1 GB/s' }");
  EXPECT_THAT(run({"show", "p.txtpb"}).out, HasSubstr("by ports, not link by link"));
  EXPECT_EQ(run({"check", "p.txtpb"}).exit_code, 0);
  expect_bad_usage({"export", "p.txtpb"}, "p.txtpb: it is described by ports and has no links");
  expect_bad_usage({"show", "p.txtpb", "--route", "0,1"}, "has no routes");
}

// A dump of nvidia-smi topo -m is an input as the cluster is that imports it.
TEST_F(TopologyCommandTest, ExportKeepsWhatTheClusterImports) {
  const std::string dump =
      "GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X PHB 0-7 0\nGPU1 PHB X 0-7 0\n";
  workspace_.write("topo.dot", dump);
  workspace_.write("i.txtpb",
                   "num_nodes: 1 gpus_per_node: 2 gpu_memory: '1 GiB'\n"
                   "nodes { import: 'topo.dot' pcie_rate: '10 GB/s' memory_rate: '10 GB/s' }\n"
                   "fabric { single_switch {} }\n");
  ASSERT_EQ(run({"check", "i.txtpb"}).exit_code, 0) << run({"check", "i.txtpb"}).err;
  expect_bad_usage({"export", "i.txtpb", "--out", "./topo.dot"}, "would overwrite an input");
  EXPECT_EQ(workspace_.read("topo.dot"), dump);
}

TEST_F(TopologyCommandTest, BadUsage) {
  expect_bad_usage({}, "no action is given");
  expect_bad_usage({"draw", "c.txtpb"}, "action 'draw' is not understood; give show, check or");
  expect_bad_usage({"show"}, "no cluster is given");
  expect_bad_usage({"show", "missing.txtpb"}, "missing.txtpb");
  expect_bad_usage({"show", "c.txtpb", "--route", "1,1"}, "two different ranks");
  expect_bad_usage({"show", "c.txtpb", "--route", "0,4"}, "ranks are 0 to 3");
  expect_bad_usage({"show", "c.txtpb", "--out", "x"}, "--out is an option of export");
  expect_bad_usage({"check", "c.txtpb", "--json"}, "--json is an option of show");
  expect_bad_usage({"export", "c.txtpb", "--node", "2"}, "nodes are 0 to 1");
  expect_bad_usage({"export", "c.txtpb", "--format", "png"}, "give dot or svg");
  expect_bad_usage({"export", "c.txtpb", "--out", "c.png"}, "--out 'c.png' is not understood");
  expect_bad_usage({"export", "c.txtpb", "--out", "c.txtpb"}, "--out 'c.txtpb' is not understood");
  expect_bad_usage({"export", "c.txtpb", "--out", "c.txtpb", "--format", "svg"},
                   "would overwrite an input");
  expect_bad_usage({"show", "c.txtpb", "--set", "model.layers=2"}, "is of no cluster");
}

}  // namespace
}  // namespace moesim
