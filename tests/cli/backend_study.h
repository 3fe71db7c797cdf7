#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cli/moesim_runner.h"

namespace moesim {

// Two nodes of two ranks, whose collectives take up to some ms.
inline constexpr const char* kCluster = R"(
name: "tiny"
num_nodes: 2
gpus_per_node: 2
gpu_memory: "1 GiB"
intra_node { rate: "400 KB/s" latency: "1 ms" }
inter_node { rate: "200 KB/s" latency: "1 ms" }
)";

// Operations of 10 ms: only --modelled looks at them.
inline constexpr const char* kProfile = R"(
name: "tiny"
gemm { startup: "3 ms" per_flop: "1 ms/MFLOP" }
memory_rate: "10 MB/s"
)";

inline constexpr const char* kScenario = R"(
name: "tiny"
cluster: "cluster.txtpb"
model {
  layers: 1 batch: 1 sequence: 16 embedding: 16 hidden: 16 heads: 2 experts: 2 top_k: 1
  capacity_factor: "1" dtype: FP32
}
parallel { mp: 2 dp: 2 esp: 2 ep: 2 }
schedules: ["tutel", "fsmoe"]
)";

// Far more than a machine that runs tests has: the experts' weights alone are
// 8 * 2 * 65,536 * 262,144 * 4 B = 1 TiB.
inline constexpr const char* kGiant = R"(
name: "giant"
cluster: "cluster.txtpb"
profile: "profile.txtpb"
model {
  layers: 1 batch: 1 sequence: 4096 embedding: 65536 hidden: 262144 heads: 64 experts: 8 top_k: 2
  capacity_factor: "1" dtype: FP32
}
parallel { mp: 1 dp: 4 esp: 1 ep: 4 }
schedules: ["deepspeed_moe"]
)";

// A scenario of milliseconds in a folder of its own.
class BackendStudy : public testing::Test {
 protected:
  void SetUp() override {
    workspace_.write("cluster.txtpb", kCluster);
    workspace_.write("profile.txtpb", kProfile);
    workspace_.write("study.txtpb", kScenario);
    workspace_.write("giant.txtpb", kGiant);
  }

  // With the raw clock and one run.
  Outcome run_raw(const std::string& command, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {command, "study.txtpb", "--clock", "raw", "--runs", "1"});
    return workspace_.run(options);
  }

  Workspace workspace_;
};

}  // namespace moesim
