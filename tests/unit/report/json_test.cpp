#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/report/json_text.h"
#include "sim/report/result.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using nlohmann::json;
using test::HandProgram;
using test::ps;
using ::testing::EndsWith;

// Outside checks rely on these names and types (zeros included).
TEST(JsonTest, HasTheKeysOfTheContract) {
  const json result = json::parse(to_json(SimulationResult()));
  for (const char* key : {"version", "scenario", "schedule", "policy", "resolution", "bound_by"}) {
    EXPECT_TRUE(result.at(key).is_string()) << key;
  }
  for (const char* key : {"num_classes",
                          "num_ranks",
                          "seed",
                          "iteration_seconds",
                          "forward_degree",
                          "backward_degree",
                          "tokens_per_second",
                          "peak_memory_bytes",
                          "exposed_communication_seconds",
                          "straggler_wait_seconds"}) {
    EXPECT_TRUE(result.at(key).is_number()) << key;
  }
  EXPECT_TRUE(result.at("fits").is_boolean());
  EXPECT_TRUE(result.at("streams").is_object());
  EXPECT_TRUE(result.at("critical_path").is_object());
  EXPECT_TRUE(result.at("assumptions").is_array());
  EXPECT_TRUE(result.at("lower_bounds").at("busiest_seconds").is_number());
  EXPECT_TRUE(result.at("lower_bounds").at("dependency_chain_seconds").is_number());
  for (const char* key :
       {"weight_bytes", "gradient_bytes", "optimizer_bytes", "activation_bytes"}) {
    EXPECT_TRUE(result.at("memory").at(key).is_number_integer()) << key;
  }
  for (const char* key : {"non_moe_degree", "degrees", "runner_up", "ablation", "spans"}) {
    EXPECT_FALSE(result.contains(key)) << key;
  }
}

// 3 MB in 2 us are 1.5 TB/s.
TEST(JsonTest, KernelsAreThereWhereTheyWereTimed) {
  SimulationResult result;
  EXPECT_FALSE(json::parse(to_json(result)).contains("kernels"));
  result.kernels = {
      {.name = "map_slots", .count = 4, .total = ps(2'000'000), .bytes = 3'000'000, .flops = 0}};
  const json kernel = json::parse(to_json(result)).at("kernels").at(0);
  EXPECT_EQ(kernel.at("name"), "map_slots");
  EXPECT_EQ(kernel.at("steps"), 4);
  EXPECT_DOUBLE_EQ(kernel.at("total_seconds"), 2e-6);
  EXPECT_DOUBLE_EQ(kernel.at("mean_seconds"), 5e-7);
  EXPECT_EQ(kernel.at("bytes"), 3'000'000);
  EXPECT_DOUBLE_EQ(kernel.at("bytes_per_second"), 1.5e12);
  EXPECT_EQ(kernel.at("flops_per_second"), 0);
}

TEST(JsonTest, OptionalKeysAppearWithTheirValues) {
  SimulationResult result;
  result.non_moe_degree = 2;
  result.degrees = {{4, 2}, {3, 2}};
  result.runner_up = "the other";
  result.stream_busy_seconds = {{"inter", 0.25}};
  result.ablation = {{"launch_overhead", 0.5, 0.125}};
  result.memory = {.peak_bytes = 10,
                   .weight_bytes = 1,
                   .gradient_bytes = 2,
                   .optimizer_bytes = 3,
                   .activation_bytes = 4};
  const json parsed = json::parse(to_json(result));
  EXPECT_EQ(parsed["peak_memory_bytes"], 10);
  EXPECT_EQ(parsed["memory"],
            json({{"weight_bytes", 1},
                  {"gradient_bytes", 2},
                  {"optimizer_bytes", 3},
                  {"activation_bytes", 4}}));
  EXPECT_EQ(parsed["non_moe_degree"], 2);
  EXPECT_EQ(parsed["degrees"], json({{4, 2}, {3, 2}}));
  EXPECT_EQ(parsed["runner_up"], "the other");
  EXPECT_EQ(parsed["streams"]["inter"]["busy_seconds"], 0.25);
  EXPECT_EQ(parsed["ablation"][0]["cost_seconds"], 0.125);
}

TEST(JsonTest, PicosecondsCanBeRecovered) {
  for (const std::int64_t picoseconds : {1LL, 999'999'999'999LL, 123'456'789'012'345LL}) {
    SimulationResult result;
    result.iteration_seconds = ps(picoseconds).seconds();
    const json parsed = json::parse(to_json(result));
    EXPECT_EQ(Time::from_seconds(parsed["iteration_seconds"].get<double>()), ps(picoseconds));
  }
}

// Classes {0,2} and {1}, two tasks each: six spans, in the trace's order, for every rank.
TEST(JsonTest, SpansOfEveryRank) {
  HandProgram hand(3, {"compute"});
  const int a = hand.add_fixed("a", 0, ps(3));
  hand.add_host_wait({a});
  Trace trace;
  trace.classes = {{0, {0, 2}}, {1, {1}}};
  trace.spans = {{0, 0, ps(0), ps(0), ps(0), ps(3)},
                 {1, 0, ps(0), ps(0), ps(0), ps(4)},
                 {0, 1, ps(0), ps(1), ps(1), ps(3)},
                 {1, 1, ps(0), ps(1), ps(1), ps(4)}};
  trace.end = ps(4);
  const json spans = json::parse(to_json(SimulationResult(), hand.program(), trace))["spans"];
  ASSERT_EQ(spans.size(), 6U);
  EXPECT_EQ(spans[1],
            json({{"rank", 2},
                  {"stream", "compute"},
                  {"task", "a0"},
                  {"start_seconds", 0},
                  {"end_seconds", 3e-12}}));
  EXPECT_EQ(spans[2]["rank"], 1);
  EXPECT_EQ(spans[2]["end_seconds"], 4e-12);
  EXPECT_EQ(spans[3]["stream"], "host");
}

TEST(JsonTest, EndsWithANewline) {
  EXPECT_THAT(to_json(SimulationResult()), EndsWith("}\n"));
  HandProgram hand(1, {"compute"});
  EXPECT_THAT(to_json(SimulationResult(), hand.program(), Trace()), EndsWith("]\n}\n"));
  EXPECT_THAT(to_json(Comparison()), EndsWith("}\n"));
}

TEST(JsonTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(json_quoted("a\"b"), "\"a\\\"b\"");
  EXPECT_EQ(json_quoted("a\xff"), "\"a\uFFFD\"");
}

}  // namespace
}  // namespace moesim
