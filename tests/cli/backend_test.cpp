// execute, calibrate and crosscheck on a scenario of milliseconds. What does not ask for pacing
// runs with the raw clock, under which no run is late; nothing here depends on how long anything
// took.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/backend_study.h"

namespace moesim {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class BackendTest : public BackendStudy {
 protected:
  json run_raw_json(const std::string& command, std::vector<std::string> options = {}) const {
    options.emplace_back("--json");
    const Outcome outcome = run_raw(command, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? json::parse(outcome.out) : json();
  }
};

TEST_F(BackendTest, ExecuteHasTheKeysOfSimulateAndWhatWasMeasured) {
  const std::vector<std::string> plan = {"--profile", "profile.txtpb", "--degree", "2"};
  std::vector<std::string> words = {"simulate", "study.txtpb", "--json", "--spans"};
  words.insert(words.end(), plan.begin(), plan.end());
  const json predicted = json::parse(workspace_.run(words).out);
  words = plan;
  words.emplace_back("--spans");
  const json executed = run_raw_json("execute", words);
  for (const auto& [key, value] : predicted.items()) {
    // How exactly sharing was simulated is nothing that a run has.
    EXPECT_EQ(executed.contains(key), key != "sharing") << key;
  }
  EXPECT_EQ(executed.at("schedule"), "tutel");
  EXPECT_EQ(executed.at("forward_degree"), 2);
  EXPECT_EQ(executed.at("num_ranks"), 4);
  const json& measured = executed.at("measured");
  EXPECT_EQ(measured.at("backend"), "cpu");
  EXPECT_EQ(measured.at("accepted"), 1);
  EXPECT_EQ(measured.at("rejected"), 0);
  EXPECT_EQ(measured.at("median_seconds"), executed.at("iteration_seconds"));
  EXPECT_EQ(measured.at("p25_seconds"), executed.at("iteration_seconds"));
  EXPECT_THAT(executed.at("assumptions").dump(), HasSubstr("clock raw: nothing is paced"));
  EXPECT_FALSE(predicted.contains("measured"));
}

TEST_F(BackendTest, ExecuteWritesATraceAndAPicture) {
  const Outcome outcome = run_raw(
      "execute", {"--profile", "profile.txtpb", "--trace", "trace.json", "--svg", "picture.svg"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("tiny, tutel\n"),
                    HasSubstr("median of 1 run on cpu"),
                    HasSubstr("critical path")));
  EXPECT_TRUE(json::accept(workspace_.read("trace.json")));
  EXPECT_THAT(workspace_.read("picture.svg"), HasSubstr("</svg>"));
}

TEST_F(BackendTest, ExecuteRunsAProgramFileWithoutClusterOrProfile) {
  workspace_.write("program.json", R"({"name": "small", "num_ranks": 2, "tasks": [
    {"name": "first", "stream": "compute", "fixed": {"time": "1 ms"}}]})");
  const Outcome outcome = workspace_.run(
      {"execute", "--program", "program.json", "--clock", "raw", "--runs", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("measured").at("accepted"), 2);
}

TEST_F(BackendTest, ACalibratedProfileIsAProfile) {
  const Outcome outcome = run_raw("calibrate", {"--out", "measured.txtpb"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("measured.txtpb: "), HasSubstr(" operations\n")));
  EXPECT_THAT(workspace_.read("measured.txtpb"),
              AllOf(HasSubstr("\"backend cpu, clock raw, dilation 1, 32 hardware queues\""),
                    HasSubstr("\"seed 1\""),
                    HasSubstr("\"1 accepted run of each of "),
                    HasSubstr("num_samples"),
                    HasSubstr("operation: \"expert\""),
                    HasSubstr("two at once between nodes")));
  const Outcome simulated =
      workspace_.run({"simulate", "study.txtpb", "--profile", "measured.txtpb", "--json"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  EXPECT_THAT(json::parse(simulated.out).at("assumptions").dump(), Not(HasSubstr("ALL_TO_ALL")));
}

TEST_F(BackendTest, ACalibrationGoesToStandardOutput) {
  const Outcome outcome = run_raw("calibrate");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("name: \"tiny_calibrated\"\n"));
}

TEST_F(BackendTest, CrosscheckComparesEverySchedule) {
  const json result = run_raw_json("crosscheck", {"--svg", "both.svg"});
  EXPECT_EQ(result.at("backend"), "cpu");
  EXPECT_EQ(result.at("baseline"), "tutel");
  EXPECT_THAT(result.at("not_run"), IsEmpty());
  for (const char* key :
       {"median_error", "worst_error", "ranked_pairs", "agreeing_pairs", "assumptions"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  std::vector<std::string> schedules;
  for (const json& row : result.at("rows")) {
    schedules.push_back(row.at("schedule"));
    EXPECT_EQ(row.at("runs"), 1);
    EXPECT_GT(row.at("predicted_seconds"), 0);
    EXPECT_GT(row.at("measured_seconds"), 0);
    EXPECT_TRUE(row.at("kinds").contains("expert"));
    EXPECT_GT(row.at("kinds").at("expert").at("measured_seconds"), 0);
    for (const char* key : {"error", "speedup_error", "rejected", "lateness_seconds"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
  }
  EXPECT_THAT(schedules, ElementsAre("tutel", "fsmoe"));
  const std::string svg = workspace_.read("both.svg");
  for (const char* title : {"tutel, predicted", "tutel, measured", "fsmoe, measured"}) {
    EXPECT_THAT(svg, HasSubstr(title));
  }
}

// No prediction is right to the last picosecond.
TEST_F(BackendTest, AMissedBarIsExitCodeThree) {
  const Outcome outcome = run_raw("crosscheck", {"--schedules", "tutel", "--max-error", "0%"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Absolute error: median "));
  // An error below -100 % cannot be, and no prediction is a million times too slow.
  const Outcome wide = run_raw("crosscheck", {"--schedules", "tutel", "--max-error", "1e6"});
  EXPECT_EQ(wide.exit_code, 0) << wide.err;
}

// tutel has one degree for both passes: it cannot run, and fsmoe is measured all the same.
TEST_F(BackendTest, AScheduleThatCannotRunIsNamed) {
  const json result = run_raw_json("crosscheck", {"--degree", "2,1", "--baseline", "fsmoe"});
  ASSERT_EQ(result.at("rows").size(), 1U);
  EXPECT_EQ(result.at("rows").at(0).at("schedule"), "fsmoe");
  EXPECT_THAT(result.at("not_run").dump(), HasSubstr("tutel: "));
}

// Before anything runs: even a Program that nobody would wait for is not looked at yet.
TEST_F(BackendTest, ABaselineThatCannotRunIsFoundBeforeTheProbes) {
  const std::vector<std::string> endless = {"--set", "model.sequence=1048576", "--dilation", "50"};
  for (const auto& [degree, reason] : std::vector<std::pair<std::string, std::string>>{
           {"2,1", "tutel: --degree 2,1: tutel has one degree for both passes"},
           {"auto", "one run would take"}}) {
    std::vector<std::string> words = {
        "crosscheck", "study.txtpb", "--degree", degree, "--svg", "both.svg"};
    words.insert(words.end(), endless.begin(), endless.end());
    const Outcome outcome = workspace_.run(words);
    EXPECT_EQ(outcome.exit_code, 2) << degree;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(reason));
    EXPECT_THAT(workspace_.files(), Not(testing::Contains("both.svg")));
  }
}

// Paced, with planned starts: a machine too busy even for that is no failure of this test.
TEST_F(BackendTest, ModelledOperationsLastWhatTheProfileSays) {
  const Outcome outcome = workspace_.run({"execute",
                                          "study.txtpb",
                                          "--profile",
                                          "profile.txtpb",
                                          "--modelled",
                                          "--clock",
                                          "anchored",
                                          "--runs",
                                          "1",
                                          "--json"});
  if (outcome.exit_code == 1 && outcome.err.find("disturbed") != std::string::npos) {
    GTEST_SKIP() << outcome.err;
  }
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      json::parse(outcome.out).at("assumptions").dump(),
      AllOf(HasSubstr("operations last what the profile says"), HasSubstr("clock anchored")));
}

TEST_F(BackendTest, ModelledNeedsAProfile) {
  for (const char* command : {"calibrate", "crosscheck"}) {
    const Outcome outcome = workspace_.run({command, "study.txtpb", "--modelled"});
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("--modelled takes the operations' times from a profile"));
  }
}

TEST_F(BackendTest, OneProcessWithoutMpirunIsAWorldOfOne) {
  const Outcome threads =
      run_raw("execute", {"--profile", "profile.txtpb", "--results", "threads.txt"});
  ASSERT_EQ(threads.exit_code, 0) << threads.err;
  const Outcome processes = run_raw(
      "execute", {"--profile", "profile.txtpb", "--transport", "mpi", "--results", "mpi.txt"});
  if (processes.err.find("built without Open MPI") != std::string::npos) {
    EXPECT_EQ(processes.exit_code, 2);
    GTEST_SKIP() << processes.err;
  }
  ASSERT_EQ(processes.exit_code, 0) << processes.err;
  EXPECT_THAT(processes.out, HasSubstr("Open MPI messages between 1 processes of 4 ranks each"));
  EXPECT_THAT(workspace_.read("mpi.txt"), HasSubstr(" rank 3 "));
  EXPECT_EQ(workspace_.read("mpi.txt"), workspace_.read("threads.txt"));
}

TEST_F(BackendTest, BadUsage) {
  for (const char* command : {"execute", "calibrate", "crosscheck"}) {
    EXPECT_EQ(workspace_.run({command}).exit_code, 2) << command;
    const Outcome clock = workspace_.run({command, "study.txtpb", "--clock", "late"});
    EXPECT_EQ(clock.exit_code, 2) << command;
    EXPECT_THAT(clock.err, HasSubstr("give free, anchored or raw"));
    EXPECT_EQ(workspace_.run({command, "study.txtpb", "--runs", "0"}).exit_code, 2) << command;
  }
  const Outcome profile =
      workspace_.run({"calibrate", "study.txtpb", "--profile", "profile.txtpb"});
  EXPECT_EQ(profile.exit_code, 2);
  EXPECT_THAT(profile.err, StartsWith("--profile names measured costs"));
  EXPECT_EQ(workspace_.run({"crosscheck", "study.txtpb", "--max-error", "x"}).exit_code, 2);
  EXPECT_THAT(workspace_.run({"calibrate", "study.txtpb", "--spread", "x"}).err,
              HasSubstr("--spread"));
  EXPECT_THAT(workspace_.run({"execute", "study.txtpb", "--runs", "5", "--max-runs", "4"}).err,
              HasSubstr("--max-runs 4 is less than the 5 runs"));
  // An output must not overwrite an input.
  EXPECT_EQ(workspace_.run({"calibrate", "study.txtpb", "--out", "study.txtpb"}).exit_code, 2);
}

TEST_F(BackendTest, RefusesWhatThisMachineCannotRun) {
  for (const char* command : {"execute", "crosscheck", "calibrate"}) {
    const Outcome outcome = workspace_.run({command, "giant.txtpb", "--clock", "raw"});
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("one run would take "),
                      HasSubstr("iB of memory (this machine has "),
                      HasSubstr(" Program"),
                      HasSubstr("; execute a smaller scenario")))
        << command;
  }
}

// A million positions: attention takes some 1e13 FLOPs, minutes of computing, and fifty times as
// long in each of 11 runs. Nothing may run before that is refused, not even a probe.
TEST_F(BackendTest, RefusesALongSequenceBeforeAnythingRuns) {
  const std::vector<std::string> long_sequence = {
      "study.txtpb", "--set", "model.sequence=1048576", "--dilation", "50"};
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"execute", "--profile", "profile.txtpb"}, {"calibrate"}, {"crosscheck"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), long_sequence.begin(), long_sequence.end());
    const Outcome outcome = workspace_.run(words);
    EXPECT_EQ(outcome.exit_code, 2) << command.front();
    EXPECT_THAT(outcome.err, HasSubstr("; execute a smaller scenario")) << command.front();
  }
}

// What is small to compute takes days to send at 1 byte a second.
TEST_F(BackendTest, CountsTheTimeOfPacedLinks) {
  const Outcome paced = workspace_.run({"execute",
                                        "study.txtpb",
                                        "--profile",
                                        "profile.txtpb",
                                        "--set",
                                        "cluster.inter_node.rate=0.1 B/s"});
  EXPECT_EQ(paced.exit_code, 2);
  EXPECT_THAT(paced.err, HasSubstr("; execute a smaller scenario"));
}

}  // namespace
}  // namespace moesim
