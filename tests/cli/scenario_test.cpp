// simulate, compare, verify and program on one small scenario.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class ScenarioTest : public testing::Test {
 protected:
  void SetUp() override { write_small_study(workspace_); }

  Outcome run(const std::string& command, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {command, "study.txtpb"});
    return workspace_.run(options);
  }

  json run_json(const std::string& command, std::vector<std::string> options = {}) const {
    options.emplace_back("--json");
    const Outcome outcome = run(command, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty());
    return json::parse(outcome.out);
  }

  Workspace workspace_;
};

TEST_F(ScenarioTest, SimulateHasEveryKeyOfTheContract) {
  const json result = run_json("simulate", {"--schedule", "fsmoe"});
  for (const char* key : {"version",
                          "scenario",
                          "schedule",
                          "policy",
                          "resolution",
                          "num_classes",
                          "num_ranks",
                          "seed",
                          "iteration_seconds",
                          "forward_degree",
                          "backward_degree",
                          "tokens_per_second",
                          "peak_memory_bytes",
                          "fits",
                          "streams",
                          "exposed_communication_seconds",
                          "straggler_wait_seconds",
                          "critical_path",
                          "lower_bounds",
                          "bound_by",
                          "sharing",
                          "assumptions"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result.at("scenario"), "study");
  EXPECT_EQ(result.at("schedule"), "fsmoe");
  EXPECT_EQ(result.at("policy"), "search");
  EXPECT_EQ(result.at("num_ranks"), 4);
  EXPECT_FALSE(result.contains("spans"));
  EXPECT_FALSE(result.contains("ablation"));
  for (const json& stream : result.at("streams")) {
    EXPECT_TRUE(stream.contains("busy_seconds"));
  }
}

// Flows are what the others are compared with, so exact by themselves.
TEST_F(ScenarioTest, FlowsSayThatTheirSharingIsExact) {
  const json result = run_json("simulate", {"--schedule", "fsmoe", "--resolution", "flows"});
  EXPECT_EQ(result.at("sharing").at("exact"), true);
  EXPECT_EQ(result.at("sharing").at("at_most_seconds"), result.at("iteration_seconds"));
}

TEST_F(ScenarioTest, CriticalPathSumsToTheIterationAndBoundsHold) {
  const json result = run_json("simulate", {"--schedule", "fsmoe"});
  const double iteration = result.at("iteration_seconds");
  double sum = 0;
  for (const json& seconds : result.at("critical_path")) {
    sum += seconds.get<double>();
  }
  EXPECT_NEAR(sum, iteration, 1e-12);  // a picosecond: the sum is of rounded doubles
  EXPECT_LE(result.at("lower_bounds").at("busiest_seconds"), iteration);
  EXPECT_LE(result.at("lower_bounds").at("dependency_chain_seconds"), iteration);
}

TEST_F(ScenarioTest, FirstScheduleIsTheDefault) {
  EXPECT_EQ(run_json("simulate").at("schedule"), "deepspeed_moe");
}

TEST_F(ScenarioTest, GivenDegreesAreUsed) {
  const json result = run_json("simulate", {"--schedule", "fsmoe", "--degree", "4,2"});
  EXPECT_EQ(result.at("policy"), "given");
  EXPECT_EQ(result.at("forward_degree"), 4);
  EXPECT_EQ(result.at("backward_degree"), 2);
}

TEST_F(ScenarioTest, OverridesChangeTheResult) {
  const double short_time = run_json("simulate").at("iteration_seconds");
  const json longer = run_json("simulate", {"--set", "model.sequence=512"});
  EXPECT_GT(longer.at("iteration_seconds"), short_time);
  const json slower = run_json("simulate", {"--set", "profile.launch_overhead=50 us"});
  EXPECT_GT(slower.at("iteration_seconds"), short_time);
}

TEST_F(ScenarioTest, SameInputsSameBytes) {
  const std::vector<std::string> options = {"--schedule", "fsmoe", "--json", "--spans"};
  EXPECT_EQ(run("simulate", options).out, run("simulate", options).out);
}

TEST_F(ScenarioTest, TableIsForPeople) {
  const Outcome outcome = run("simulate");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("critical path"));
  EXPECT_THAT(outcome.out, HasSubstr("bound by"));
}

TEST_F(ScenarioTest, TraceAndPictureAreWritten) {
  const Outcome outcome =
      run("simulate", {"--trace", "trace.json", "--svg", "picture.svg", "--layers", "0..0"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(json::accept(workspace_.read("trace.json")));
  EXPECT_THAT(workspace_.read("picture.svg"), HasSubstr("</svg>"));
}

TEST_F(ScenarioTest, NothingIsHalfWritten) {
  const std::vector<std::string> before = workspace_.files();
  const Outcome outcome = run("simulate", {"--svg", "no/folder/picture.svg"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("no/folder/picture.svg"));
  EXPECT_EQ(workspace_.files(), before);
}

TEST_F(ScenarioTest, OutputsThatCannotBe) {
  const auto refused = [this](const std::vector<std::string>& options, const std::string& message) {
    const Outcome outcome = run("simulate", options);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(message));
  };
  const std::vector<std::string> before = workspace_.files();
  const std::string profile = workspace_.read("profile.txtpb");
  refused({"--svg", "a.out", "--trace", "./a.out"}, "two outputs are to go there");
  refused({"--svg", "profile.txtpb"}, "it would overwrite an input");
  refused({"--svg", ""}, "--svg: it is empty");
  EXPECT_EQ(run("program", {"--out", "study.txtpb"}).exit_code, 2);
  EXPECT_EQ(workspace_.files(), before);
  EXPECT_EQ(workspace_.read("profile.txtpb"), profile);
  EXPECT_EQ(run("simulate", {"--svg", "/dev/null", "--trace", "/dev/null"}).exit_code, 0);
}

TEST_F(ScenarioTest, AblationPricesEachEffect) {
  const json result = run_json("simulate", {"--schedule", "fsmoe", "--ablate"});
  std::vector<std::string> effects;
  for (const json& ablated : result.at("ablation")) {
    effects.push_back(ablated.at("effect"));
    const double without = ablated.at("iteration_seconds");
    const double cost = ablated.at("cost_seconds");
    EXPECT_NEAR(result.at("iteration_seconds").get<double>() - without, cost, 1e-12);
  }
  EXPECT_THAT(
      effects,
      ElementsAre(
          "launch_overhead", "hardware_queues", "port_sharing", "gradient_partition", "skew"));
  EXPECT_GT(result.at("ablation").at(0).at("cost_seconds"), 0);  // 5 us a launch
  EXPECT_EQ(result.at("ablation").at(4).at("cost_seconds"), 0);  // routing is balanced anyway
  EXPECT_THAT(run("simulate", {"--ablate"}).out, HasSubstr("launch_overhead"));
}

TEST_F(ScenarioTest, CompareMeasuresAgainstTheBaseline) {
  const json comparison = run_json("compare");
  EXPECT_EQ(comparison.at("baseline"), "deepspeed_moe");
  std::vector<std::string> schedules;
  const double base = comparison.at("rows").at(0).at("iteration_seconds");
  for (const json& row : comparison.at("rows")) {
    schedules.push_back(row.at("schedule"));
    EXPECT_DOUBLE_EQ(row.at("speedup"), base / row.at("iteration_seconds").get<double>());
    EXPECT_GE(row.at("forward_degree"), 1);
    EXPECT_GE(row.at("backward_degree"), 1);
  }
  EXPECT_THAT(schedules, ElementsAre("deepspeed_moe", "tutel", "fsmoe"));
}

TEST_F(ScenarioTest, CompareTakesSchedulesAndABaseline) {
  const json two = run_json("compare", {"--schedules", "tutel,fsmoe"});
  EXPECT_EQ(two.at("baseline"), "tutel");
  EXPECT_EQ(two.at("rows").size(), 2U);
  const json three = run_json("compare", {"--schedules", "tutel,fsmoe", "--baseline", "pipemoe"});
  EXPECT_EQ(three.at("baseline"), "pipemoe");
  EXPECT_EQ(three.at("rows").size(), 3U);
  EXPECT_EQ(run("compare", {"--schedules", "tutel,tutle"}).exit_code, 2);
}

// tutel has one degree for both passes; fsmoe has two.
TEST_F(ScenarioTest, CompareGoesOnWithoutWhatCannotRun) {
  const json comparison = run_json("compare", {"--schedules", "tutel,fsmoe", "--degree", "4,2"});
  ASSERT_EQ(comparison.at("rows").size(), 2U);
  EXPECT_EQ(comparison.at("rows").at(0),
            json({{"schedule", "tutel"},
                  {"error",
                   "--degree 4,2: tutel has one degree for both passes; give the same degree "
                   "forward and backward"}}));
  EXPECT_EQ(comparison.at("rows").at(1).at("forward_degree"), 4);
  EXPECT_TRUE(comparison.at("rows").at(1).at("speedup").is_null());
  const Outcome table = run("compare", {"--schedules", "tutel,fsmoe", "--degree", "4,2"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, HasSubstr("cannot run\n  - tutel: --degree 4,2: "));
}

// mp = 2 and esp = 1: parm_baseline needs them equal.
TEST_F(ScenarioTest, CompareNamesTheScheduleThatDoesNotSuit) {
  const json comparison = run_json("compare",
                                   {"--schedules",
                                    "tutel,parm_baseline",
                                    "--set",
                                    "parallel.esp=1",
                                    "--set",
                                    "parallel.ep=2",
                                    "--set",
                                    "parallel.edp=2"});
  EXPECT_TRUE(comparison.at("rows").at(0).contains("iteration_seconds"));
  EXPECT_THAT(comparison.at("rows").at(1).at("error").get<std::string>(),
              HasSubstr("parm_baseline needs mp = esp"));
}

TEST_F(ScenarioTest, CompareFailsWhereNothingCanRun) {
  const Outcome outcome = run("compare", {"--schedules", "tutel,pipemoe", "--degree", "4,2"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, testing::StartsWith("no schedule can run:\n  tutel: --degree 4,2: "));
  EXPECT_THAT(outcome.err, HasSubstr("\n  pipemoe: --degree 4,2: "));
}

// Blamed on the option that gave them, on the override, on the file's line.
TEST_F(ScenarioTest, BadDegreesAreLocatedWhereTheyAreGiven) {
  const auto error = [this](const std::vector<std::string>& options) {
    return run("simulate", options).err;
  };
  const std::string what = ": tutel has one degree for both passes";
  EXPECT_THAT(error({"--schedule", "tutel", "--degree", "4,2"}), HasSubstr("--degree 4,2" + what));
  workspace_.write("study.txtpb", workspace_.read("study.txtpb") + "degrees { forward: 4 }\n");
  EXPECT_THAT(error({"--schedule", "tutel", "--set", "degrees.backward=2"}),
              HasSubstr("--set degrees.backward=2" + what));
  std::string text = workspace_.read("study.txtpb");
  const auto line = 1 + std::count(text.begin(), text.begin() + text.find("degrees"), '\n');
  text.replace(text.find("forward: 4"), 10, "forward: 4 backward: 2");
  workspace_.write("study.txtpb", text);
  EXPECT_THAT(error({"--schedule", "tutel"}),
              HasSubstr("study.txtpb:" + std::to_string(line) + ":1" + what));
}

TEST_F(ScenarioTest, SchedulesVerify) {
  for (const char* schedule : {"deepspeed_moe", "tutel", "fsmoe"}) {
    const json verdict = run_json("verify", {"--schedule", schedule});
    EXPECT_EQ(verdict.at("ok"), true) << schedule;
    EXPECT_THAT(verdict.at("problems"), IsEmpty()) << schedule;
  }
}

TEST_F(ScenarioTest, WrittenProgramSimulatesToTheSameTime) {
  const std::vector<std::string> schedule = {"--schedule", "fsmoe", "--degree", "3,2"};
  const double expected = run_json("simulate", schedule).at("iteration_seconds");
  const Outcome printed = run("program", schedule);
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  for (const char* file : {"program.json", "program.txtpb"}) {
    std::vector<std::string> options = schedule;
    options.insert(options.end(), {"--out", file});
    const Outcome written = run("program", options);
    EXPECT_EQ(written.exit_code, 0) << written.err;
    EXPECT_THAT(written.out, IsEmpty());
    const Outcome simulated = workspace_.run({"simulate",
                                              "--program",
                                              file,
                                              "--cluster",
                                              "cluster.txtpb",
                                              "--profile",
                                              "profile.txtpb",
                                              "--json"});
    ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
    EXPECT_EQ(json::parse(simulated.out).at("iteration_seconds"), expected) << file;
  }
  EXPECT_EQ(printed.out, workspace_.read("program.json"));
  EXPECT_EQ(run("program", {"--out", "program.txt"}).exit_code, 2);
}

TEST_F(ScenarioTest, SchedulesAreNamedOnce) {
  EXPECT_EQ(run("compare", {"--schedules", "tutel,tutel"}).err,
            "--schedules names tutel twice; remove one\n");
  for (const char* names : {"tutel,,fsmoe", ""}) {
    const Outcome outcome = run("compare", {"--schedules", names});
    EXPECT_EQ(outcome.exit_code, 2) << names;
    EXPECT_THAT(outcome.err, StartsWith("--schedules holds an empty name; ")) << names;
  }
}

// What a terminal would obey, and what would break a line, is shown in answers as in messages.
TEST_F(ScenarioTest, NamesStayOnTheirLine) {
  const Outcome verified = run("verify", {"--set", "name=a\nb\x1b[31m"});
  EXPECT_THAT(verified.out, HasSubstr("a\\nb\\x1b[31m/"));
  const Outcome simulated = run("simulate", {"--set", "name=a\nb\x1b[31m"});
  EXPECT_THAT(simulated.out, StartsWith("a\\nb\\x1b[31m, "));
  const Outcome refused = run("compare", {"--schedules", "a\nb"});
  EXPECT_THAT(refused.err, StartsWith("there is no schedule \"a\\nb\"; "));
}

}  // namespace
}  // namespace moesim
