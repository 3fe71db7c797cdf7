// Programs written by hand: exact times of fixed tasks, and what the verifier says.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProgramFileTest : public testing::Test {
 protected:
  void write_program(const std::string& rest) const {
    workspace_.write("program.json", R"({"name": "hand", "num_ranks": 2, )" + rest + "}");
  }

  Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin() + 1, {"--program", "program.json"});
    return workspace_.run(words);
  }

  // The kinds of problems that `verify` finds.
  std::vector<std::string> problem_kinds() const {
    const Outcome outcome = run({"verify", "--json"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    const json verdict = json::parse(outcome.out);
    EXPECT_FALSE(verdict.at("ok").get<bool>());
    std::vector<std::string> kinds;
    for (const json& problem : verdict.at("problems")) {
      EXPECT_THAT(problem.at("message").get<std::string>(), testing::Not(IsEmpty()));
      kinds.push_back(problem.at("kind"));
    }
    return kinds;
  }

  Workspace workspace_;
};

constexpr const char* kFixedTasks = R"(
  "rank_scale": [1, 2],
  "tasks": [
    {"name": "a", "stream": "compute", "fixed": {"time": "1 ms"}},
    {"name": "b", "stream": "inter", "fixed": {"time": "2 ms"}},
    {"name": "c", "stream": "compute", "waits": ["b"], "fixed": {"time": "3 ms"}}
  ])";

// Two writers of one tensor on two streams, nothing between them.
constexpr const char* kRace = R"(
  "tensors": [{"name": "t", "rows": 4, "columns": 1, "dtype": "FP32"}],
  "tasks": [
    {"name": "write", "stream": "compute", "writes": [{"tensor": "t"}], "fixed": {"time": "1 ms"}},
    {"name": "read", "stream": "inter", "reads": [{"tensor": "t"}], "fixed": {"time": "1 ms"}}
  ])";

// Rank 1 never joins the collective of both.
constexpr const char* kAbsentMember = R"(
  "roles": [{"name": "first", "ranks": [0]}, {"name": "second", "ranks": [1]}],
  "groups": [{"name": "both", "members": [{"ranks": [0, 1]}]}],
  "tasks": [
    {"name": "sum", "roles": ["first"], "stream": "inter",
     "collective": {"operation": "ALL_REDUCE", "group": "both", "bytes": "1 MB"}},
    {"name": "after", "stream": "compute", "waits": [], "fixed": {"time": "1 ms"}}
  ])";

// Each rank ends one of two sums before it starts the other, the other way round.
constexpr const char* kCrossedSums = R"(
  "roles": [{"name": "first", "ranks": [0]}, {"name": "second", "ranks": [1]}],
  "groups": [{"name": "both", "members": [{"ranks": [0, 1]}]}],
  "tasks": [
    {"name": "ax", "roles": ["first"], "stream": "x",
     "collective": {"operation": "ALL_REDUCE", "group": "both", "bytes": "1 MB"}},
    {"name": "ay", "roles": ["first"], "stream": "y", "waits": ["ax"],
     "collective": {"operation": "ALL_REDUCE", "group": "both", "bytes": "1 MB"}},
    {"name": "by", "roles": ["second"], "stream": "y",
     "collective": {"operation": "ALL_REDUCE", "group": "both", "bytes": "1 MB"}},
    {"name": "bx", "roles": ["second"], "stream": "x", "waits": ["by"],
     "collective": {"operation": "ALL_REDUCE", "group": "both", "bytes": "1 MB"}}
  ])";

constexpr const char* kSum = R"(
  "groups": [{"name": "both", "members": [{"ranks": [0, 1]}]}],
  "tasks": [
    {"name": "sum", "stream": "inter",
     "collective": {"operation": "ALL_REDUCE", "group": "both", "bytes": "1 MB"}}
  ])";

TEST_F(ProgramFileTest, FixedTasksTakeExactlyTheirTimes) {
  write_program(kFixedTasks);
  const Outcome outcome = run({"simulate", "--json", "--spans"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  const json result = json::parse(outcome.out);
  // Rank 0: b ends at 2 ms, c at 2 + 3 = 5 ms. Rank 1 takes twice as long for each: 4 + 6 = 10 ms.
  EXPECT_EQ(result.at("iteration_seconds"), 0.010);
  EXPECT_EQ(result.at("num_ranks"), 2);
  for (const json& span : result.at("spans")) {
    if (span.at("task") == "c") {
      const double scale = span.at("rank") == 0 ? 1 : 2;
      EXPECT_EQ(span.at("stream"), "compute");
      EXPECT_EQ(span.at("start_seconds"), 0.002 * scale);
      EXPECT_EQ(span.at("end_seconds"), 0.005 * scale);
    }
  }
  EXPECT_EQ(result.at("spans").size(), 6U);  // three tasks on two ranks
}

TEST_F(ProgramFileTest, ResolutionsAgree) {
  write_program(kFixedTasks);
  for (const char* resolution : {"fold", "ports", "flows"}) {
    const json result = json::parse(run({"simulate", "--json", "--resolution", resolution}).out);
    EXPECT_EQ(result.at("iteration_seconds"), 0.010) << resolution;
    EXPECT_EQ(result.at("resolution"), resolution);
  }
}

TEST_F(ProgramFileTest, SoundProgramIsOk) {
  write_program(kFixedTasks);
  const Outcome outcome = run({"verify", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(json::parse(outcome.out).at("ok"), true);
  EXPECT_THAT(run({"verify"}).out, HasSubstr("0 problems"));
}

TEST_F(ProgramFileTest, RaceIsNamedAndNotSimulated) {
  write_program(kRace);
  EXPECT_THAT(problem_kinds(), Contains("race"));
  const json problem = json::parse(run({"verify", "--json"}).out).at("problems").at(0);
  EXPECT_THAT(problem.at("tasks"), ElementsAre("write", "read"));

  const Outcome refused = run({"simulate", "--json", "--trace", "trace.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.out, IsEmpty());
  EXPECT_THAT(refused.err, HasSubstr("race: "));
  EXPECT_THAT(refused.err, HasSubstr("--unverified"));
  EXPECT_FALSE(workspace_.exists("trace.json"));

  const Outcome unverified = run({"simulate", "--json", "--unverified"});
  EXPECT_EQ(unverified.exit_code, 0) << unverified.err;
  EXPECT_EQ(json::parse(unverified.out).at("iteration_seconds"), 0.001);
}

// Nothing can be made of rows that are not there.
TEST_F(ProgramFileTest, OutOfBoundsIsNotSimulatedEvenUnverified) {
  write_program(R"(
    "tensors": [{"name": "t", "rows": 4, "columns": 1}],
    "tasks": [{"name": "write", "stream": "compute", "writes": [{"tensor": "t", "num_rows": 5}],
               "fixed": {"time": "1 ms"}}])");
  EXPECT_THAT(problem_kinds(), Contains("out_of_bounds"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"simulate"}, {"simulate", "--unverified"}}) {
    const Outcome refused = run(words);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.out, IsEmpty());
    EXPECT_THAT(refused.err, HasSubstr("which --unverified does not excuse"));
    EXPECT_THAT(refused.err, HasSubstr("rows [0, 5) of 4"));
  }
}

TEST_F(ProgramFileTest, CollectiveWithoutAMemberIsMismatched) {
  write_program(kAbsentMember);
  EXPECT_THAT(problem_kinds(), Contains("mismatched_collective"));
  EXPECT_EQ(run({"simulate"}).exit_code, 2);
}

TEST_F(ProgramFileTest, DeadlockIsFound) {
  write_program(kCrossedSums);
  EXPECT_THAT(problem_kinds(), ElementsAre("deadlock"));
  EXPECT_EQ(run({"simulate"}).exit_code, 2);
}

TEST_F(ProgramFileTest, CollectivesNeedAClusterAndAProfile) {
  write_program(kSum);
  const Outcome outcome = run({"simulate", "--json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, testing::StartsWith("program.json: task '"));
  EXPECT_THAT(outcome.err, HasSubstr("add --cluster FILE and --profile FILE\n"));
  write_small_study(workspace_);
  EXPECT_THAT(run({"simulate", "--cluster", "cluster.txtpb"}).err,
              HasSubstr("is not given; add --profile FILE\n"));
  EXPECT_THAT(run({"simulate", "--profile", "profile.txtpb"}).err,
              HasSubstr("is not given; add --cluster FILE\n"));
}

TEST_F(ProgramFileTest, CollectiveTakesItsProfilesTime) {
  write_small_study(workspace_);
  write_program(kSum);
  const Outcome outcome = run({"simulate",
                               "--json",
                               "--cluster",
                               "cluster.txtpb",
                               "--profile",
                               "profile.txtpb",
                               "--set",
                               "cluster.gpus_per_node=1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  // 5 us launch + 20 us start-up + 1e6 B * 0.4 ns/B = 425 us
  EXPECT_EQ(json::parse(outcome.out).at("iteration_seconds"), 425e-6);
}

TEST_F(ProgramFileTest, OverridesNeedTheirFile) {
  write_program(kFixedTasks);
  EXPECT_THAT(run({"simulate", "--set", "model.layers=2"}).err, HasSubstr("--set model.layers=2"));
  EXPECT_THAT(run({"simulate", "--set", "cluster.num_nodes=2"}).err,
              HasSubstr("give --cluster FILE"));
}

TEST_F(ProgramFileTest, MistakesInAProgramAreBadInput) {
  write_program(
      R"("tasks": [{"name": "a", "stream": "s", "waits": ["b"], "fixed": {"time": "1 s"}}])");
  EXPECT_EQ(run({"verify"}).exit_code, 2);
  write_program(R"("tasks": [{"name": "a", "stream": "s", "fixed": {"time": "-1 s"}}])");
  EXPECT_EQ(run({"simulate"}).exit_code, 2);
  workspace_.write("program.json", "{");
  const Outcome outcome = run({"simulate"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::StartsWith("program.json"));
}

}  // namespace
}  // namespace moesim
