// Stragglers and jitter from a scenario to its results, and links coloured by load.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class VariationCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    write_small_study(workspace_);
    study_ = workspace_.read("study.txtpb");
  }

  void vary(const std::string& variation) const {
    workspace_.write("study.txtpb", study_ + "variation { " + variation + " }\n");
  }

  Outcome run(std::vector<std::string> options) const {
    options.insert(options.begin(), {"simulate", "study.txtpb"});
    return workspace_.run(options);
  }

  json result(std::vector<std::string> options = {}) const {
    options.emplace_back("--json");
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  void expect_error(const std::vector<std::string>& options, const std::string& why) const {
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(why));
  }

  Workspace workspace_;
  std::string study_;
};

TEST_F(VariationCommandTest, AStragglerFoldsAndIsTold) {
  const json even = result();
  EXPECT_FALSE(even.contains("variation"));
  vary("speeds { at: 'node:1/gpu:0' factor: 0.5 }");
  const json slow = result({"--ablate"});
  EXPECT_EQ(slow["resolution"], "fold");
  EXPECT_LT(slow["num_classes"], 5);
  EXPECT_GT(slow["straggler_wait_seconds"], even["straggler_wait_seconds"]);
  EXPECT_EQ(slow["variation"],
            json({{"ranks_at_other_speed", 1}, {"slowest_speed", 0.5}, {"fastest_speed", 1.0}}));
  EXPECT_THAT(slow["assumptions"].back().get<std::string>(),
              StartsWith("speeds: 1 of 4 GPUs compute at 0.5 times the speed"));
  bool is_ablated = false;
  for (const json& effect : slow["ablation"]) {
    if (effect["effect"] == "variation") {
      is_ablated = true;
      EXPECT_EQ(effect["iteration_seconds"], even["iteration_seconds"]);
    }
  }
  EXPECT_TRUE(is_ablated);
  const json ports = result({"--resolution", "ports"});
  EXPECT_EQ(ports["iteration_seconds"], slow["iteration_seconds"]);
}

TEST_F(VariationCommandTest, JitterFollowsItsSeed) {
  vary("jitter { relative_deviation: 0.1 }");
  const Outcome once = run({"--json", "--spans"});
  EXPECT_EQ(run({"--json", "--spans"}).out, once.out);
  const json first = json::parse(once.out);
  EXPECT_EQ(first["resolution"], "ports");
  EXPECT_EQ(first["variation"]["jitter"],
            json({{"relative_deviation", 0.1}, {"distribution", "LOG_NORMAL"}, {"seed", 1}}));
  EXPECT_THAT(first["assumptions"].back().get<std::string>(),
              AllOf(StartsWith("jitter: "), HasSubstr("seed 1")));
  const json second = result({"--set", "seed=2"});
  EXPECT_NE(second["iteration_seconds"], first["iteration_seconds"]);
  EXPECT_EQ(second["seed"], 2);
  EXPECT_EQ(result({"--set", "variation.jitter.seed=2"})["iteration_seconds"],
            second["iteration_seconds"]);
}

// A Program is self-contained: it takes its variation with it, to the simulator and to the backend.
TEST_F(VariationCommandTest, AProgramCarriesItsVariation) {
  vary("speeds { at: 'node:0/gpu:*' factor: 0.5 } jitter { relative_deviation: 0.1 seed: 9 }");
  ASSERT_EQ(workspace_.run({"program", "study.txtpb", "--out", "program.json"}).exit_code, 0);
  const std::vector<std::string> costs = {
      "--program", "program.json", "--cluster", "cluster.txtpb", "--profile", "profile.txtpb"};
  std::vector<std::string> words = {"simulate", "--json"};
  words.insert(words.end(), costs.begin(), costs.end());
  const Outcome simulated = workspace_.run(words);
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  const json from_program = json::parse(simulated.out);
  EXPECT_EQ(from_program["iteration_seconds"], result()["iteration_seconds"]);
  EXPECT_EQ(from_program["seed"], 9);
  words[0] = "execute";
  words.insert(words.end(), {"--clock", "raw", "--runs", "1"});
  const Outcome raw = workspace_.run(words);
  EXPECT_EQ(raw.exit_code, 2);
  EXPECT_THAT(raw.err, HasSubstr("--clock raw paces nothing"));
}

TEST_F(VariationCommandTest, WhatCannotBe) {
  vary("jitter { relative_deviation: 0.1 }");
  expect_error({"--resolution", "fold"}, "leave out --resolution fold, or the jitter");
  vary("speeds { at: 'node:2/gpu:0' factor: 0.5 }");
  expect_error({}, "study.txtpb:12:26: no GPU \"node:2/gpu:0\"; cluster \"small\" has node:0 to ");
}

TEST_F(VariationCommandTest, LinkLoadIsAPictureOrATable) {
  workspace_.write("links.txtpb",
                   "num_nodes: 2 gpus_per_node: 2 gpu_memory: '16 GiB'\n"
                   "nodes { node { pcie_rate: '10 GB/s' memory_rate: '10 GB/s' nics: 1 "
                   "nic_rate: '1 GB/s' nic_placement: ROOT_PORT } }\n"
                   "fabric { single_switch {} }\n");
  for (const std::string resolution : {"fold", "ports"}) {
    for (const std::string ending : {"svg", "csv", "json"}) {
      const Outcome outcome = run({"--cluster",
                                   "links.txtpb",
                                   "--resolution",
                                   resolution,
                                   "--link-load",
                                   resolution + "." + ending});
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }
  for (const std::string ending : {".svg", ".csv", ".json"}) {
    EXPECT_EQ(workspace_.read("fold" + ending), workspace_.read("ports" + ending));
  }
  EXPECT_THAT(workspace_.read("fold.svg"), AllOf(StartsWith("<svg"), HasSubstr("busiest link: ")));
  EXPECT_THAT(workspace_.read("fold.csv"), HasSubstr("\nnetwork,node:0/nic:0 -> switch:0/0,"));
  EXPECT_EQ(json::parse(workspace_.read("fold.json"))["links"][0]["kind"], "network");
}

TEST_F(VariationCommandTest, LinkLoadNeedsLinks) {
  expect_error({"--link-load", "load.svg"},
               "cluster 'small' is described by ports and has no links; describe its nodes and "
               "fabric (docs/inputs.md), or give another by --cluster FILE");
  // Before degrees are searched: that tutel cannot have these two is not found out.
  expect_error({"--link-load", "load.svg", "--schedule", "tutel", "--degree", "2,1"},
               "cluster 'small' is described by ports");
  expect_error({"--schedule", "tutel", "--degree", "2,1"}, "tutel has one degree for both passes");
  expect_error({"--link-load", "load.png"}, "a file that ends in .svg (a picture), .csv or .json");
  expect_error({"--link-load", "study.txtpb/load.svg"}, "study.txtpb");
  EXPECT_FALSE(workspace_.exists("load.svg"));
}

}  // namespace
}  // namespace moesim
