// Scenarios: the files that they name, and JSON.
#include <gmock/gmock.h>

#include "tests/unit/io/scenario_fixture.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using ScenarioFilesTest = ScenarioTest;

TEST_F(ScenarioFilesTest, FilesThatItNames) {
  EXPECT_EQ(error("cluster=nowhere.txtpb"),
            folder_ + "/nowhere.txtpb: cannot read: No such file or directory; check the path");
  write_file_atomically(path_, "profile: 'parts/p.txtpb'");
  EXPECT_EQ(error_of([this] { return load(); }),
            path_ + ":1:1: no \"cluster\"; add its path or give --cluster");
  write_file_atomically(path_, "cluster: 'parts/x.txtpb'");
  EXPECT_EQ(error_of([this] { return load(); }),
            path_ + ":1:10: " + folder_ +
                "/parts/x.txtpb: cannot read: No such file or "
                "directory; check the path");
  EXPECT_THAT(error_of([] { load_scenario("nowhere.txtpb"); }),
              StartsWith("nowhere.txtpb: cannot read: No such file"));
}

TEST_F(ScenarioFilesTest, FilesCanBeReplaced) {
  const std::string other = folder_ + "/other.txtpb";
  write_file_atomically(
      other,
      "num_nodes: 4 gpus_per_node: 4 gpu_memory: '1 GiB' intra_node { rate: '1 GB/s' } "
      "inter_node { rate: '1 GB/s' }");
  const Inputs inputs = load_inputs(
      path_, {.cluster = other, .overrides = {"cluster.num_nodes=8", "model.experts=8"}});
  EXPECT_EQ(inputs.cluster.name, "other");
  EXPECT_EQ(inputs.scenario.cluster_path, other);
  EXPECT_EQ(inputs.scenario.parallel.dp, 8);  // 8 nodes of 4 GPUs, mp = 4
}

// The hash changes with every input and not with where the files lie.
TEST_F(ScenarioFilesTest, HashCoversEveryInput) {
  const std::string hash = load_inputs(path_).hash;
  EXPECT_EQ(load_inputs(path_).hash, hash);
  EXPECT_NE(load_inputs(path_, {.overrides = {"seed=1"}}).hash, hash);
  const std::string copy = folder_ + "/parts/copy.txtpb";
  write_file_atomically(copy, kCluster);
  EXPECT_EQ(load_inputs(path_, {.cluster = copy}).hash, hash);
  write_file_atomically(copy, std::string(kCluster) + "# changed");
  EXPECT_NE(load_inputs(path_, {.cluster = copy}).hash, hash);
}

// What measures costs needs none: then nothing has a cost, and no file is named.
TEST_F(ScenarioFilesTest, AProfileCanBeMissing) {
  std::string text = read_file(path_);
  const std::size_t at = text.find("profile:");
  text.erase(at, text.find('\n', at) - at);
  write_file_atomically(path_, text);
  EXPECT_THAT(error_of([&] { load_inputs(path_); }), HasSubstr("no \"profile\""));
  const Inputs inputs = load_inputs(path_, {.needs_profile = false});
  EXPECT_EQ(inputs.scenario.profile_path, "");
  EXPECT_FALSE(inputs.profile.gemm.has_value());
}

TEST_F(ScenarioFilesTest, JsonWorksEverywhere) {
  write_file_atomically(
      path_,
      R"({"cluster": "parts/c.json", "profile": "parts/p.txtpb", "model": {"layers": 1, "batch": 1,
          "sequence": 8, "embedding": 8, "hidden": 8, "heads": 4, "experts": 2, "top_k": 1,
          "capacity_factor": 1.5, "attention": "CAUSAL"},
          "parallel": {"mp": 2, "ep": 2, "edp": 1}})");
  write_file_atomically(folder_ + "/parts/c.json",
                        R"({"num_nodes": 1, "gpus_per_node": 4, "gpu_memory": "1 GiB",
          "intra_node": {"rate": "1 GB/s"}, "inter_node": {"rate": "1 GB/s"}})");
  const Scenario scenario = load();
  EXPECT_EQ(scenario.model.capacity_factor, 1.5);
  EXPECT_EQ(scenario.model.attention, AttentionMask::kCausal);
  EXPECT_EQ(scenario.parallel.esp, 2);
  EXPECT_THAT(scenario.schedules, IsEmpty());
  EXPECT_EQ(error("model.top_k=3"), "top_k = 3 of 2 experts; choose at most 2");
  // 12 GPUs: esp = 12 / (2 * 1).
  EXPECT_EQ(error("cluster.num_nodes=3"),
            path_ +
                ": parallel: hidden = 8 does not divide by esp = 6, which is what the other sizes "
                "leave of the cluster's GPUs; give esp or change the sizes, the cluster or "
                "hidden");
}

}  // namespace
}  // namespace moesim
