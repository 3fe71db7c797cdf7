#include "tests/cli/small_study.h"

namespace moesim {
namespace {

constexpr const char* kCluster = R"(
name: "small"
num_nodes: 2
gpus_per_node: 2
gpu_memory: "16 GiB"
intra_node { rate: "10 GB/s" }
inter_node { rate: "5 GB/s" }
)";

constexpr const char* kProfile = R"(
name: "small"
gemm { startup: "10 us" per_flop: "100 ns/MFLOP" }
memory_rate: "500 GB/s"
launch_overhead: "5 us"
collectives { operation: ALL_REDUCE     span: FABRIC startup: "20 us" per_byte: "400 ns/KB" }
collectives { operation: ALL_TO_ALL     span: FABRIC startup: "20 us" per_byte: "200 ns/KB" }
collectives { operation: ALL_GATHER     span: NODE   startup: "10 us" per_byte: "100 ns/KB" }
collectives { operation: REDUCE_SCATTER span: NODE   startup: "10 us" per_byte: "100 ns/KB" }
)";

constexpr const char* kScenario = R"(
name: "study"
cluster: "cluster.txtpb"
profile: "profile.txtpb"
model {
  layers: 2 batch: 1 sequence: 256 embedding: 128 hidden: 256 heads: 4 experts: 2 top_k: 1
  capacity_factor: "1"
}
parallel { mp: 2 dp: 2 esp: 2 ep: 2 }
schedules: ["deepspeed_moe", "tutel", "fsmoe"]
baseline: "deepspeed_moe"
)";

}  // namespace

void write_small_study(const Workspace& workspace) {
  workspace.write("cluster.txtpb", kCluster);
  workspace.write("profile.txtpb", kProfile);
  workspace.write("study.txtpb", kScenario);
}

}  // namespace moesim
