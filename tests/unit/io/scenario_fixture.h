#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/io/files.h"
#include "sim/io/inputs.h"
#include "tests/unit/io/error_of.h"

namespace moesim {

inline constexpr const char* kCluster = R"(num_nodes: 2 gpus_per_node: 4 gpu_memory: "16 GiB"
intra_node { rate: "16 GB/s" } inter_node { rate: "200 Gb/s" }
)";

inline constexpr const char* kScenario = R"(cluster: "parts/c.txtpb" profile: "parts/p.txtpb"
model {
  layers: 3 batch: 2 sequence: 512 embedding: 1024 hidden: 4096
  heads: 16 kv_heads: 8 experts: 4 top_k: 2 capacity_factor: "1.25"
}
parallel { mp: 4 esp: 4 edp: 1 }
schedules: ["tutel", "fsmoe"] baseline: "tutel"
)";

class ScenarioTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "scenario_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_ + "/parts");
    write_file_atomically(folder_ + "/parts/c.txtpb", kCluster);
    write_file_atomically(folder_ + "/parts/p.txtpb", "");
    path_ = folder_ + "/small.txtpb";
    write_file_atomically(path_, kScenario);
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Scenario load(const std::vector<std::string>& overrides = {}) const {
    return load_scenario(path_, overrides);
  }

  // The error of one override, without "--set " and the override itself when it is located there.
  [[nodiscard]] std::string error(const std::string& override) const {
    const std::string text = error_of([&] { return load({override}); });
    const std::string prefix = "--set " + override + ": ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }

  std::string folder_;
  std::string path_;
};

}  // namespace moesim
