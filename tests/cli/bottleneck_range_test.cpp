// simulate and compare with --bottleneck-range.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class BottleneckRangeTest : public testing::Test {
 protected:
  void SetUp() override { write_small_study(workspace_); }

  json run_json(std::vector<std::string> words) const {
    words.insert(words.end(), {"--json", "--bottleneck-range"});
    const Outcome outcome = workspace_.run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty());
    return json::parse(outcome.out);
  }

  Workspace workspace_;
};

// A cluster of ports: PORT or PRIVATE within the nodes, likewise between them. The iteration
// without the option is that of PORT, PORT, and inside the range.
TEST_F(BottleneckRangeTest, Simulate) {
  const json result = run_json({"simulate", "study.txtpb", "--schedule", "fsmoe"});
  const json& range = result["bottleneck_range"];
  ASSERT_EQ(range["placements"].size(), 4U);
  EXPECT_EQ(range["placements"][0]["bottlenecks"][0]["bottleneck"], "PORT");
  EXPECT_EQ(range["placements"][0]["rows"][0]["iteration_seconds"], result["iteration_seconds"]);
  std::vector<double> seconds;
  for (const json& placement : range["placements"]) {
    seconds.push_back(placement["rows"][0]["iteration_seconds"]);
  }
  EXPECT_EQ(range["schedules"][0]["least_seconds"], *std::ranges::min_element(seconds));
  EXPECT_EQ(range["schedules"][0]["most_seconds"], *std::ranges::max_element(seconds));
  EXPECT_TRUE(range["schedules"][0]["least_speedup"].is_null());
}

// What a row says is what the user gets who writes the places into the profile.
TEST_F(BottleneckRangeTest, EachRowIsWhatTheProfileWouldGive) {
  const json result = run_json({"simulate", "study.txtpb", "--schedule", "fsmoe"});
  std::vector<std::string> words = {"simulate", "study.txtpb", "--schedule", "fsmoe", "--json"};
  for (int i = 0; i < 4; ++i) {
    words.push_back("--set");
    words.push_back("profile.collectives[" + std::to_string(i) + "].bottleneck=PRIVATE");
  }
  const Outcome by_hand = workspace_.run(words);
  ASSERT_EQ(by_hand.exit_code, 0) << by_hand.err;
  EXPECT_EQ(result["bottleneck_range"]["placements"][3]["rows"][0]["iteration_seconds"],
            json::parse(by_hand.out)["iteration_seconds"]);
}

TEST_F(BottleneckRangeTest, Compare) {
  const json result = run_json({"compare", "study.txtpb"});
  const json& range = result["bottleneck_range"];
  ASSERT_EQ(range["schedules"].size(), 3U);
  EXPECT_EQ(range["schedules"][0]["schedule"], "deepspeed_moe");
  EXPECT_EQ(range["schedules"][0]["most_speedup"], 1);
  const Outcome table = workspace_.run({"compare", "study.txtpb", "--bottleneck-range"});
  EXPECT_THAT(
      table.out,
      AllOf(HasSubstr("iteration by where the measured times are spent (bottleneck), 4 ways"),
            HasSubstr("within nodes, between nodes")));
}

// A Program of one collective, with cluster and profile, has two places; without them there is
// nothing to place, nor where nothing was measured.
TEST_F(BottleneckRangeTest, Programs) {
  workspace_.write("p.json",
                   R"({"name": "p", "num_ranks": 4,
  "groups": [{"name": "dp", "members": [{"ranks": [0, 2]}, {"ranks": [1, 3]}]}],
  "tasks": [{"name": "sum", "stream": "s",
             "collective": {"operation": "ALL_REDUCE", "group": "dp", "bytes": "1 MiB"}}]})");
  const json result = run_json({"simulate",
                                "--program",
                                "p.json",
                                "--cluster",
                                "cluster.txtpb",
                                "--profile",
                                "profile.txtpb"});
  EXPECT_EQ(result["bottleneck_range"]["placements"].size(), 2U);
  EXPECT_EQ(result["bottleneck_range"]["schedules"][0]["schedule"], "p");
  workspace_.write("f.json",
                   R"({"num_ranks": 1, "tasks": [{"name": "t", "stream": "s",
                      "fixed": {"time": "1 ms"}}]})");
  const Outcome none = workspace_.run({"simulate", "--program", "f.json", "--bottleneck-range"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--bottleneck-range needs a cluster and a profile"));
  workspace_.write("empty.txtpb", "name: 'empty' gemm { per_flop: '1 ns/MFLOP' }");
  const Outcome empty =
      workspace_.run({"simulate", "study.txtpb", "--profile", "empty.txtpb", "--bottleneck-range"});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("profile \"empty\" has measured no collective's time"));
}

}  // namespace
}  // namespace moesim
