// What a cluster imports is an input: no command writes over it, and the hash of inputs knows it.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/moesim_runner.h"
#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using testing::HasSubstr;

// What nvidia-smi topo -m prints of two GPUs and a NIC.
constexpr const char* kDump =
    "GPU0 GPU1 mlx5_0 CPU Affinity NUMA Affinity\n"
    "GPU0 X PHB PHB 0-7 0\n"
    "GPU1 PHB X PHB 0-7 0\n"
    "mlx5_0 PHB PHB X\n";

constexpr const char* kCluster =
    "name: 'small' num_nodes: 2 gpus_per_node: 2 gpu_memory: '16 GiB'\n"
    "nodes { import: 'topo.json' pcie_rate: '10 GB/s' memory_rate: '50 GB/s' nic_rate: '5 GB/s' }\n"
    "fabric { single_switch {} }\n";

class ImportsTest : public testing::Test {
 protected:
  void SetUp() override {
    write_small_study(workspace_);
    workspace_.write("topo.json", kDump);
    workspace_.write("cluster.txtpb", kCluster);
  }

  void expect_refused(const std::vector<std::string>& words) const {
    const Outcome outcome = workspace_.run(words);
    EXPECT_EQ(outcome.exit_code, 2) << words[0];
    EXPECT_THAT(outcome.err, HasSubstr("topo.json: it would overwrite an input")) << words[0];
    EXPECT_EQ(workspace_.read("topo.json"), kDump) << words[0];
  }

  Workspace workspace_;
};

TEST_F(ImportsTest, TheClusterIsRight) {
  const Outcome outcome = workspace_.run({"simulate", "study.txtpb", "--link-load", "load.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

// A dump that says the same with one more space is another input. A scenario and a Program file
// read it on ways of their own.
TEST_F(ImportsTest, TheHashOfInputsCoversWhatWasRead) {
  ASSERT_EQ(workspace_.run({"program", "study.txtpb", "--out", "program.json"}).exit_code, 0);
  const std::vector<std::vector<std::string>> commands = {{"simulate", "study.txtpb", "--json"},
                                                          {"simulate",
                                                           "--program",
                                                           "program.json",
                                                           "--cluster",
                                                           "cluster.txtpb",
                                                           "--profile",
                                                           "profile.txtpb",
                                                           "--json"}};
  const auto hash = [&](const std::vector<std::string>& words) {
    const Outcome outcome = workspace_.run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json result = nlohmann::json::parse(outcome.out);
    return std::pair(result["inputs_hash"].get<std::string>(),
                     result["iteration_seconds"].get<double>());
  };
  for (const auto& words : commands) {
    workspace_.write("topo.json", kDump);
    const auto before = hash(words);
    EXPECT_EQ(hash(words), before);
    workspace_.write("topo.json", std::string(kDump) + " ");
    const auto after = hash(words);
    EXPECT_NE(after.first, before.first);
    EXPECT_EQ(after.second, before.second);
  }
}

TEST_F(ImportsTest, AreNotWrittenOverByWhatReadsAScenario) {
  for (const char* output : {"--svg", "--trace", "--link-load"}) {
    expect_refused({"simulate", "study.txtpb", output, "topo.json"});
  }
  expect_refused({"execute", "study.txtpb", "--results", "topo.json"});
  expect_refused({"crosscheck", "study.txtpb", "--svg", "./topo.json"});
  expect_refused({"calibrate", "study.txtpb", "--out", "topo.json"});
  expect_refused({"program", "study.txtpb", "--out", "topo.json"});
}

TEST_F(ImportsTest, AreNotWrittenOverByWhatReadsAProgram) {
  ASSERT_EQ(workspace_.run({"program", "study.txtpb", "--out", "program.json"}).exit_code, 0);
  expect_refused({"simulate",
                  "--program",
                  "program.json",
                  "--cluster",
                  "cluster.txtpb",
                  "--profile",
                  "profile.txtpb",
                  "--svg",
                  "topo.json"});
}

// Also those of a cluster that only an axis names.
TEST_F(ImportsTest, AreNotWrittenOverByASweep) {
  workspace_.write("sweep.txtpb", "scenario: 'study.txtpb'\n");
  expect_refused({"sweep", "sweep.txtpb", "--out", "topo.json"});
  workspace_.write("imported.txtpb", kCluster);
  write_small_study(workspace_);
  workspace_.write("sweep.txtpb",
                   "scenario: 'study.txtpb'\n"
                   "axes { field: 'cluster' values: ['cluster.txtpb', 'imported.txtpb'] }\n");
  expect_refused({"sweep", "sweep.txtpb", "--out", "topo.json"});
}

TEST_F(ImportsTest, AreNotWrittenOverByACalibrationFromLogs) {
  workspace_.write("two.log", "");
  expect_refused(
      {"calibrate", "--nccl-tests", "two.log", "--cluster", "cluster.txtpb", "--out", "topo.json"});
}

}  // namespace
}  // namespace moesim
