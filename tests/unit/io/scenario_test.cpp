// Scenarios: what follows from what, and what contradicts what. The cluster has 2 nodes of 4 GPUs.
#include <filesystem>

#include <gmock/gmock.h>

#include "sim/io/files.h"
#include "sim/io/inputs.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kCluster = R"(num_nodes: 2 gpus_per_node: 4 gpu_memory: "16 GiB"
intra_node { rate: "16 GB/s" } inter_node { rate: "200 Gb/s" }
)";

constexpr const char* kScenario = R"(cluster: "parts/c.txtpb" profile: "parts/p.txtpb"
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

// 2 nodes of 4 GPUs: dp = 8 / 4 and ep = 8 / (4 * 1).
TEST_F(ScenarioTest, DerivesGroupSizesAndDefaults) {
  const Scenario scenario = load();
  EXPECT_EQ(scenario.name, "small");
  EXPECT_EQ(scenario.path, path_);
  EXPECT_EQ(scenario.cluster_path, folder_ + "/parts/c.txtpb");
  EXPECT_EQ(scenario.parallel.dp, 2);
  EXPECT_EQ(scenario.parallel.ep, 2);
  EXPECT_EQ(scenario.model.capacity_factor, 1.25);
  EXPECT_EQ(scenario.model.attention, AttentionMask::kFull);
  EXPECT_FALSE(scenario.model.optimizer);
  EXPECT_EQ(scenario.routing.kind, RoutingKind::kBalanced);
  EXPECT_EQ(scenario.gradient_chunk_bytes, 30'000'000);
  EXPECT_EQ(scenario.seed, 1U);
  EXPECT_FALSE(scenario.degrees.forward);
  EXPECT_EQ(load({"model.heads=8"}).model.kv_heads, 8);
}

TEST_F(ScenarioTest, OverridesReachEveryFile) {
  const Inputs inputs = load_inputs(path_,
                                    {.overrides = {"model.sequence=2048",
                                                   "model.capacity_factor=*",
                                                   "model.optimizer=ADAM",
                                                   "model.recompute=FULL",
                                                   "model.gate=EXPERT_CHOICE",
                                                   "model.pad_capacity=true",
                                                   "routing.zipf_exponent=1.2",
                                                   "degrees.forward=4",
                                                   "degrees.backward_per_layer=1,2,3",
                                                   "schedules=fsmoe,lina",
                                                   "baseline=lina",
                                                   "gradient_chunk=1 MB",
                                                   "seed=18446744073709551615",
                                                   "cluster.num_nodes=4",
                                                   "profile.hardware_queues=1"}});
  const Scenario& scenario = inputs.scenario;
  EXPECT_EQ(scenario.model.sequence, 2048);
  EXPECT_FALSE(scenario.model.capacity_factor);
  EXPECT_EQ(scenario.model.optimizer, OptimizerAlgorithm::kAdam);
  EXPECT_EQ(scenario.model.recompute, Recompute::kFull);
  EXPECT_EQ(scenario.model.gate, GateKind::kExpertChoice);
  EXPECT_TRUE(scenario.model.pad_capacity);
  EXPECT_EQ(scenario.routing.kind, RoutingKind::kZipf);
  EXPECT_EQ(scenario.routing.zipf_exponent, 1.2);
  EXPECT_EQ(scenario.degrees.forward, 4);
  EXPECT_THAT(scenario.degrees.backward_per_layer, ElementsAre(1, 2, 3));
  EXPECT_THAT(scenario.schedules, ElementsAre("fsmoe", "lina"));
  EXPECT_EQ(scenario.gradient_chunk_bytes, 1'000'000);
  EXPECT_EQ(scenario.seed, 18446744073709551615U);
  EXPECT_EQ(scenario.parallel.dp, 4);  // 16 GPUs
  EXPECT_EQ(inputs.profile.hardware_queues, 1);
}

// Node 1 has ranks 4 to 7; where two speeds name a GPU, both hold.
TEST_F(ScenarioTest, SpeedsAndJitter) {
  EXPECT_THAT(load().variation.rank_speed, IsEmpty());
  EXPECT_FALSE(load().variation.jitter);
  write_file_atomically(path_, std::string(kScenario) + R"(seed: 7 variation {
  speeds { at: "node:1/gpu:*" factor: 0.5 }
  speeds { at: "node:*/gpu:2" factor: 0.8 }
  jitter { relative_deviation: 0.05 distribution: SHIFTED_EXPONENTIAL }
})");
  const VariationConfig variation = load().variation;
  EXPECT_THAT(variation.rank_speed, ElementsAre(1, 1, 0.8, 1, 0.5, 0.5, 0.4, 0.5));
  ASSERT_TRUE(variation.jitter);
  EXPECT_EQ(variation.jitter->relative_deviation, 0.05);
  EXPECT_EQ(variation.jitter->distribution, JitterDistribution::kShiftedExponential);
  EXPECT_EQ(variation.jitter->seed, 7U);
  EXPECT_EQ(load({"variation.jitter.seed=9"}).variation.jitter->seed, 9U);
  EXPECT_FALSE(load({"variation.jitter.relative_deviation=0"}).variation.jitter);
}

TEST_F(ScenarioTest, SpeedsOfWhatIsNoGpu) {
  const auto error_with = [this](const std::string& speed) {
    write_file_atomically(path_, std::string(kScenario) + "variation { speeds { " + speed + " } }");
    std::string text = error_of([this] { return load(); });
    return text.substr(text.find(".txtpb:") + 7);
  };
  EXPECT_EQ(error_with("at: 'node:0/nic:1' factor: 2"),
            "8:26: \"node:0/nic:1\" names no GPU; write \"node:3/gpu:1\", or * for any number");
  EXPECT_EQ(error_with("at: 'gpu:1' factor: 2"),
            "8:26: \"gpu:1\" names no GPU; write \"node:3/gpu:1\", or * for any number");
  EXPECT_EQ(error_with("at: 'node:2/gpu:*' factor: 2"),
            "8:26: no GPU \"node:2/gpu:*\"; cluster \"c\" has node:0 to node:1 with gpu:0 to gpu:3 "
            "each");
  EXPECT_THAT(error_with("at: 'node:0/gpu:-1' factor: 2"), StartsWith("8:26: no GPU"));
  EXPECT_EQ(error_with("at: 'node:0/gpu:0'"), "8:13: GpuSpeed has no \"factor\"; add it");
  EXPECT_EQ(error_with("at: 'node:0/gpu:0' factor: 0"),
            "8:49: factor is 0; write a number from 0.001 to 1000");
  EXPECT_EQ(
      error_with("at: 'node:0/gpu:0' factor: 0.01 } speeds { at: 'node:*/gpu:0' factor: 0.01"),
      "8:92: together with the factors before it, this makes a speed of 0.0001; write factors "
      "whose product is 0.001 to 1000");
}

TEST_F(ScenarioTest, TheLastOverrideOfAFieldCounts) {
  EXPECT_EQ(load({"model.sequence=1024", "model.sequence=2048"}).model.sequence, 2048);
}

TEST_F(ScenarioTest, AnEmptyOverrideRemovesTheField) {
  EXPECT_EQ(load({"baseline=", "schedules="}).baseline, "");
  EXPECT_THAT(load({"baseline=", "schedules="}).schedules, IsEmpty());
  EXPECT_EQ(error("model.capacity_factor="), "Model has no \"capacity_factor\"; add it");
}

TEST_F(ScenarioTest, OverridesAreLocatedAtThemselves) {
  EXPECT_EQ(error_of([this] { return load({"model.sequence=abc"}); }),
            "--set model.sequence=abc: abc is not a whole number; write one such as 4");
  EXPECT_EQ(error("model.sequnce=1"), "no field \"sequnce\" in Model; did you mean \"sequence\"?");
  EXPECT_EQ(error("model=1"),
            "\"model\" is a group of fields; write model { } with its fields, such as name");
  EXPECT_EQ(error("variation.speeds={at: 'node:0'}"),
            "\"speeds\" is a list of groups of fields; set the fields of one, each by itself: "
            "speeds.at=…");
  EXPECT_EQ(error("model.sequence.length=1"), "sequence has no fields; set it as a whole");
  EXPECT_EQ(error("model.sequence"),
            "the value is missing; write FIELD=VALUE, such as model.sequence=2048");
  EXPECT_EQ(error("=1"),
            "no path of a field stands before the =; write one such as model.sequence=2048");
  EXPECT_EQ(error("model..sequence=1"),
            "no path of a field stands before the =; write one such as model.sequence=2048");
  EXPECT_EQ(error("schedules[0]=lina"), "schedules is set as a whole: write schedules=a,b,c");
  EXPECT_EQ(error("degrees.forward_per_layer=1,,1"),
            "\"\" is not a whole number; write one such as 4");
  EXPECT_EQ(error("profile.collectives[1].startup=1 us"),
            "there is no collectives[1]; use a smaller index");
}

TEST_F(ScenarioTest, GroupsMustDivideTheWorld) {
  EXPECT_EQ(error("parallel.mp=3"),
            "3 ranks of mp * dp do not divide the 8 GPUs of cluster \"c\"; change mp or the "
            "cluster");
  EXPECT_EQ(error("parallel.dp=1"),
            "mp * dp is 4, but cluster \"c\" has 8 GPUs; change one of them or leave one out");
  EXPECT_EQ(error("parallel.edp=4"),
            "16 ranks of esp * ep * edp do not divide the 8 GPUs of cluster \"c\"; change edp or "
            "the cluster");
  EXPECT_EQ(error("parallel.mp=0"), "mp is 0; write a number from 1 to 1048576");
  write_file_atomically(path_,
                        "cluster: 'parts/c.txtpb' profile: 'parts/p.txtpb' model {\n" +
                            std::string("layers: 1 batch: 1 sequence: 8 embedding: 8 hidden: "
                                        "8 heads: 1 experts: 1 top_k: 1 capacity_factor: "
                                        "'*' }\nparallel { esp: 1 edp: 1 }"));
  EXPECT_EQ(error_of([this] { return load(); }),
            path_ +
                ":3:1: both mp and dp are absent; give one of them, the other follows from mp "
                "* dp = 8 GPUs");
}

TEST_F(ScenarioTest, TheModelMustDivideAmongItsGroups) {
  EXPECT_EQ(error("model.top_k=5"), "top_k = 5 of 4 experts; choose at most 4");
  EXPECT_EQ(error("model.embedding=1000"),
            "embedding = 1000 does not divide by heads = 16; change one of them");
  EXPECT_EQ(error("model.heads=2"), "heads = 2 does not divide by mp = 4; change one of them");
  EXPECT_EQ(error("model.kv_heads=5"),
            path_ + ":4:10: heads = 16 does not divide by kv_heads = 5; change one of them");
  EXPECT_EQ(error("model.kv_heads=2"),
            "kv_heads = 2 does not divide by mp = 4; change one of them");
  EXPECT_EQ(error("model.experts=3"), "experts = 3 does not divide by ep = 2; change one of them");
  EXPECT_EQ(error("model.hidden=4095"),
            "hidden = 4095 does not divide by esp = 4; change one of them");
  EXPECT_EQ(error("model.sequence=511"),
            "batch * sequence = 1022 tokens do not divide by mp = 4; change one of them");
}

// 3 nodes leave ep = 12 / (4 * 1) = 3; the mistake is not where `experts` stands.
TEST_F(ScenarioTest, DerivedGroupSizesAreBlamedOnTheLayout) {
  EXPECT_EQ(error("cluster.num_nodes=3"),
            path_ +
                ":6:1: experts = 4 does not divide by ep = 3, which is what the other sizes "
                "leave of the cluster's GPUs; give ep or change the sizes, the cluster or "
                "experts");
  EXPECT_EQ(error_of([this] {
              return load({"parallel.ep=3", "cluster.num_nodes=3"});
            }),
            path_ + ":4:34: experts = 4 does not divide by ep = 3; change one of them");
}

// 500 characters of a field's name or value say no more than 60.
TEST_F(ScenarioTest, LongTokensAreAbbreviated) {
  const std::string sixty(60, 'z');
  EXPECT_EQ(error("model.capacity_factor=" + std::string(500, 'z')).find(sixty + "z"),
            std::string::npos);
  write_file_atomically(path_, std::string(500, 'z') + ": 1");
  EXPECT_THAT(error_of([this] { return load(); }),
              StartsWith(path_ + ":1:1: no field \"" + sixty + "…\" in Scenario; "));
}

TEST_F(ScenarioTest, RefusesAbsurdModels) {
  EXPECT_EQ(error("model.layers=0"), "layers is 0; write a number from 1 to 10000");
  EXPECT_EQ(error("model.batch=-1"), "batch is -1; write a number from 1 to 16777216");
  EXPECT_EQ(error("model.batch=nan"), "nan is not a whole number; write one such as 4");
  // 16777216 * 512 tokens of four ranks' copies are 3.4e10, more than 2^31 - 1.
  EXPECT_THAT(
      error("model.batch=16777216"),
      HasSubstr(":2:1: the tokens of a group are 3.44e+10, more than 2.15e+09; reduce batch "
                "or sequence"));
  // 2 * 1000 choices of 4 * 2^20 tokens are 8.4e9 rows, also of a few bytes each.
  EXPECT_THAT(error_of([this] {
                return load({"model.capacity_factor=1000",
                             "model.sequence=524288",
                             "model.embedding=16",
                             "model.hidden=4"});
              }),
              HasSubstr("the rows of a dispatch buffer are 8.39e+09, more than 2.15e+09; reduce "
                        "batch, sequence, top_k or capacity_factor"));
  // 2 * 1.25 * 1024 * 4 tokens of 16777216 fp32 elements: 6.9e11 B are fine, four times as much
  // is not.
  EXPECT_EQ(error_of([this] { return load({"model.embedding=16777216", "model.hidden=4"}); }), "");
  EXPECT_THAT(error_of([this] {
                return load({"model.embedding=16777216", "model.hidden=4", "model.batch=8"});
              }),
              HasSubstr("the bytes of a dispatch buffer are 2.75e+12, more than 1e+12"));
  EXPECT_THAT(error_of([this] {
                return load({"model.embedding=16777216", "model.hidden=16777216"});
              }),
              HasSubstr("one layer's experts on a GPU are"));
  EXPECT_EQ(error("model.capacity_factor=0"),
            "\"0\" is no capacity factor; write a number above 0 and up to 1000 such as \"1.2\", "
            "or \"*\" to drop no token");
  EXPECT_THAT(error("model.capacity_factor=nan"), StartsWith("\"nan\" is no capacity factor"));
  EXPECT_THAT(error("model.capacity_factor=1.2x"), StartsWith("\"1.2x\" is no capacity factor"));
  EXPECT_EQ(error("model.dtype=INT32"),
            "INT32 is no type to train in; write FP32, BF16 or FP8_E4M3");
  EXPECT_EQ(error("routing.zipf_exponent=-1"), "zipf_exponent is -1; write a number from 0 to 10");
  EXPECT_EQ(error("gradient_chunk=0 B"), "a chunk of no bytes; write a size such as \"30 MB\"");
  EXPECT_EQ(error("degrees.forward=0"), "forward is 0; write a number from 1 to 1024");
  EXPECT_THAT(error("seed=-1"), StartsWith("-1 is out of range"));
}

TEST_F(ScenarioTest, RefusesContradictions) {
  EXPECT_EQ(error_of([this] {
              return load({"degrees.forward=2", "degrees.forward_per_layer=1,2,3"});
            }),
            "--set degrees.forward_per_layer=1,2,3: both forward and forward_per_layer; keep one "
            "of them");
  EXPECT_EQ(error("degrees.backward_per_layer=1,2"), "2 degrees for 3 layers; write one for each");
  EXPECT_EQ(error("schedules=tutel,fsmoe,tutel"), "\"tutel\" twice; remove one");
  write_file_atomically(
      path_,
      std::string(kScenario) + "routing { zipf_exponent: 1\ntokens { counts: [1, 2, 3, 4] } }");
  EXPECT_THAT(error_of([this] { return load(); }),
              EndsWith(":9:1: both zipf_exponent and tokens; keep one of them"));
  write_file_atomically(path_,
                        std::string(kScenario) + "routing { tokens { counts: [1, 2, 3, 4] } }");
  EXPECT_THAT(error_of([this] { return load(); }),
              EndsWith(":8:11: 1 rows of 4 counts for 8 ranks and 4 experts; write a row for each "
                       "rank, a count for each expert"));
}

TEST_F(ScenarioTest, ReadsGivenTokens) {
  std::string rows;
  for (int rank = 0; rank < 8; ++rank) {
    rows += "tokens { counts: [" + std::to_string(rank) + ", 0, 0, 1] }\n";
  }
  write_file_atomically(path_, std::string(kScenario) + "routing {\n" + rows + "}");
  const Scenario scenario = load();
  EXPECT_EQ(scenario.routing.kind, RoutingKind::kGiven);
  EXPECT_THAT(scenario.routing.tokens[5], ElementsAre(5, 0, 0, 1));
}

TEST_F(ScenarioTest, GivenTokensMustSaySomething) {
  std::string rows;
  for (int rank = 0; rank < 8; ++rank) {
    rows += rank == 3 ? "tokens { counts: [0, 0, 0, 0] }\n" : "tokens { counts: [1, 0, 0, 1] }\n";
  }
  write_file_atomically(path_, std::string(kScenario) + "routing {\n" + rows + "}");
  EXPECT_THAT(error_of([this] { return load(); }),
              EndsWith(":12:1: the counts of rank 3 are all 0; say how its choices spread over the "
                       "experts"));
}

TEST_F(ScenarioTest, SchedulesMustBeKnown) {
  const std::vector<std::string> known = {"fsmoe", "lina", "tutel"};
  EXPECT_EQ(error_of([&] { load_inputs(path_, {.known_schedules = known}); }), "");
  EXPECT_EQ(error_of([&] {
              load_inputs(path_, {.overrides = {"schedules=lina,fsmo"}, .known_schedules = known});
            }),
            "--set schedules=lina,fsmo: no schedule \"fsmo\"; did you mean \"fsmoe\"?");
  EXPECT_EQ(error_of([&] {
              load_inputs(path_, {.overrides = {"baseline=x"}, .known_schedules = known});
            }),
            "--set baseline=x: no schedule \"x\"; use one of fsmoe, lina, tutel");
}

TEST_F(ScenarioTest, FilesThatItNames) {
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

TEST_F(ScenarioTest, FilesCanBeReplaced) {
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
TEST_F(ScenarioTest, HashCoversEveryInput) {
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
TEST_F(ScenarioTest, AProfileCanBeMissing) {
  std::string text = read_file(path_);
  const std::size_t at = text.find("profile:");
  text.erase(at, text.find('\n', at) - at);
  write_file_atomically(path_, text);
  EXPECT_THAT(error_of([&] { load_inputs(path_); }), HasSubstr("no \"profile\""));
  const Inputs inputs = load_inputs(path_, {.needs_profile = false});
  EXPECT_EQ(inputs.scenario.profile_path, "");
  EXPECT_FALSE(inputs.profile.gemm.has_value());
}

TEST_F(ScenarioTest, JsonWorksEverywhere) {
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
