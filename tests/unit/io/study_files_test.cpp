// Sweeps, expectations and traces.
#include <filesystem>

#include <gmock/gmock.h>

#include "sim/io/expectation.h"
#include "sim/io/files.h"
#include "sim/io/sweep.h"
#include "sim/io/trace.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string sweep_error(const std::string& text) {
  return error_of([&text] { parse_sweep(text, "s.txtpb"); });
}

TEST(SweepTest, ReadsAxes) {
  const Sweep sweep = parse_sweep(
      R"(scenario: "../a.txtpb" schedules: ["tutel", "fsmoe"] baseline: "tutel"
         axes { field: "model.sequence" values: ["512", "1024"] }
         axes { field: "cluster.num_nodes" values: "2" }
         axes { field: "profile.collectives[0].startup" values: "2 us" })",
      "studies/s.txtpb");
  EXPECT_EQ(sweep.path, "studies/s.txtpb");
  EXPECT_EQ(sweep.scenario_path, "a.txtpb");
  ASSERT_EQ(sweep.axes.size(), 3U);
  EXPECT_EQ(sweep.axes[0].field, "model.sequence");
  EXPECT_THAT(sweep.axes[0].values, ElementsAre("512", "1024"));
  EXPECT_THAT(sweep.schedules, ElementsAre("tutel", "fsmoe"));
  EXPECT_EQ(sweep.baseline, "tutel");
}

TEST(SweepTest, AxesMustMeanSomething) {
  EXPECT_EQ(sweep_error("axes { }"), "s.txtpb:1:1: Sweep has no \"scenario\"; add it");
  const std::string head = "scenario: 'a.txtpb'\n";
  EXPECT_EQ(sweep_error(head + "axes { field: 'model.sequnce' values: '1' }"),
            "s.txtpb:2:15: no field \"sequnce\" in Model; did you mean \"sequence\"?");
  EXPECT_EQ(sweep_error(head + "axes { field: 'profile.speed' values: '1' }"),
            "s.txtpb:2:15: no field \"speed\" in Profile; use one of name, source, environment, "
            "gemm, memory_rate, collectives, launch_overhead, hardware_queues, intra_node_rate, "
            "inter_node_rate, operations, algorithms, gpu");
  EXPECT_EQ(sweep_error(head + "axes { field: 'degrees' values: '1' }"),
            "s.txtpb:2:15: \"degrees\" is a group of fields; name one of forward, backward, "
            "non_moe, forward_per_layer, backward_per_layer");
  EXPECT_EQ(sweep_error(head + "axes { field: 'seed.x' values: '1' }"),
            "s.txtpb:2:15: \"seed\" has no field \"x\"; end the path before it");
  EXPECT_EQ(sweep_error(head + "axes { field: 'model.' values: '1' }"),
            "s.txtpb:2:15: \"model.\" is no path of a field; write one such as model.sequence");
  EXPECT_EQ(sweep_error(head + "axes { field: 'seed' }"),
            "s.txtpb:2:1: axis \"seed\" has no values; add one");
  EXPECT_EQ(sweep_error(head + "axes { field: 'seed' values: ['1', '1'] }"),
            "s.txtpb:2:36: \"1\" twice; remove one");
  EXPECT_EQ(sweep_error(head + "axes { field: 'seed' values: '1' }\n"
                               "axes { field: 'seed' values: '2' }"),
            "s.txtpb:3:15: a second axis \"seed\"; join them");
}

// A sweep says beside its axes which schedules it runs: an axis of them would change nothing.
TEST(SweepTest, SchedulesAreNoAxis) {
  const std::string head = "scenario: 'a.txtpb'\n";
  EXPECT_EQ(sweep_error(head + "axes { field: 'schedules' values: 'tutel' }"),
            "s.txtpb:2:15: \"schedules\" is no axis; write schedules beside the axes");
  EXPECT_EQ(sweep_error(head + "axes { field: 'baseline' values: 'tutel' }"),
            "s.txtpb:2:15: \"baseline\" is no axis; write baseline beside the axes");
}

TEST(SweepTest, SchedulesMustBeKnown) {
  const auto error = [](const std::string& text) {
    return error_of([&text] { parse_sweep(text, "s.txtpb", {"tutel", "fsmoe"}); });
  };
  const std::string head = "scenario: 'a.txtpb'\n";
  EXPECT_EQ(error(head + "schedules: ['fsmoe', 'tutel'] baseline: 'tutel'"), "");
  EXPECT_EQ(error(head + "schedules: ['fsmoe', 'tutle']"),
            "s.txtpb:2:22: no schedule \"tutle\"; did you mean \"tutel\"?");
  EXPECT_EQ(error(head + "baseline: 'fsmo'"),
            "s.txtpb:2:11: no schedule \"fsmo\"; did you mean \"fsmoe\"?");
}

// Located in the file that names it.
TEST(SweepTest, ItsScenarioMustExist) {
  const std::string path = testing::TempDir() + "lonely_sweep.txtpb";
  write_file_atomically(path, "\nscenario: 'no/such.txtpb'\n");
  EXPECT_EQ(error_of([&] { load_sweep(path); }),
            path + ":2:11: " + testing::TempDir() +
                "no/such.txtpb: there is no such file; check the path");
  EXPECT_EQ(error_of([&] { load_expectation(path); }),
            path + ":2:11: " + testing::TempDir() +
                "no/such.txtpb: there is no such file; check the path");
  std::filesystem::remove(path);
}

// 101^3 = 1,030,301.
TEST(SweepTest, RefusesTooManyPoints) {
  std::string values;
  for (int i = 0; i < 101; ++i) {
    values += " values: '" + std::to_string(i) + "'";
  }
  EXPECT_EQ(sweep_error("scenario: 'a.txtpb'\naxes { field: 'seed'" + values +
                        " }\naxes { field: 'model.batch'" + values +
                        " }\naxes { field: 'model.layers'" + values + " }"),
            "s.txtpb:4:38: more than 1,000,000 points; use fewer values");
}

TEST(ExpectationTest, SameThroughText) {
  Expectation expectation = {.path = "scenarios/expected/a.txtpb",
                             .scenario_path = "scenarios/a.txtpb",
                             .relative_tolerance = 0.001,
                             .schedules = {}};
  expectation.schedules.push_back({.schedule = "sp_moe",
                                   .iteration = Time::from_picoseconds(1'234'567'890'123'456),
                                   .forward_degree = 4,
                                   .backward_degree = 2,
                                   .non_moe_degree = 8});
  expectation.schedules.push_back({.schedule = "tutel",
                                   .iteration = Time::from_picoseconds(1),
                                   .forward_degree = 1,
                                   .backward_degree = 1,
                                   .non_moe_degree = {}});
  const std::string text = expectation_to_text(expectation);
  EXPECT_EQ(text,
            "scenario: \"../a.txtpb\"\n"
            "relative_tolerance: 0.001\n"
            "schedules {\n"
            "  schedule: \"sp_moe\"\n"
            "  iteration_picoseconds: 1234567890123456\n"
            "  forward_degree: 4\n"
            "  backward_degree: 2\n"
            "  non_moe_degree: 8\n"
            "}\n"
            "schedules {\n"
            "  schedule: \"tutel\"\n"
            "  iteration_picoseconds: 1\n"
            "  forward_degree: 1\n"
            "  backward_degree: 1\n"
            "}\n");
  const Expectation again = parse_expectation(text, expectation.path);
  EXPECT_EQ(again.scenario_path, expectation.scenario_path);
  EXPECT_EQ(expectation_to_text(again), text);
}

TEST(ExpectationTest, RefusesWhatCannotBe) {
  const auto error = [](const std::string& text) {
    return error_of([&text] { parse_expectation("scenario: 'a'\n" + text, "e.txtpb"); });
  };
  EXPECT_EQ(error("relative_tolerance: -0.1"),
            "e.txtpb:2:21: relative_tolerance is -0.1; write a number from 0 to 1");
  EXPECT_EQ(error("schedules { schedule: 'a' }"),
            "e.txtpb:2:1: ExpectedSchedule has no \"iteration_picoseconds\"; add it");
  EXPECT_EQ(error("schedules { schedule: 'a' iteration_picoseconds: 0 }"),
            "e.txtpb:2:50: iteration_picoseconds is 0; write a number from 1 to "
            "9223372036854775807");
  const std::string one =
      "schedules { schedule: 'a' iteration_picoseconds: 1 forward_degree: 1 backward_degree: 1 }\n";
  EXPECT_EQ(error(one + one), "e.txtpb:3:23: a second \"a\"; keep one of them");
  EXPECT_EQ(error_of([&] { parse_expectation("scenario: 'a'\n" + one, "e.txtpb", {"tutel"}); }),
            "e.txtpb:2:23: no schedule \"a\"; use one of tutel");
  EXPECT_EQ(error(""), "");  // Nothing is expected yet: `check --update` fills it in.
}

Program two_tasks() {
  return parse_program(R"(name: "p" num_ranks: 4
      tasks { name: "a" stream: "s" fixed { time: "1 us" } }
      tasks { name: "b" stream: "s" fixed { time: "2 us" } })",
                       "p.txtpb");
}

Trace small_trace() {
  Trace trace;
  trace.executor = "simulator";
  trace.resolution = "fold";
  trace.classes = {{.representative = 1, .ranks = {0, 1, 2, 3}}};
  const auto us = [](std::int64_t time) { return Time::from_picoseconds(time * 1'000'000); };
  trace.spans = {
      {.rank = 1, .task = 0, .launched = us(0), .start = us(0), .transfer = us(0), .end = us(1)},
      {.rank = 1, .task = 1, .launched = us(0), .start = us(1), .transfer = us(2), .end = us(3)}};
  trace.end = us(3);
  trace.assumptions = {"none \"really\""};
  return trace;
}

TEST(TraceTest, SameThroughJson) {
  const Program program = two_tasks();
  const std::string json = trace_to_json(small_trace(), program);
  const Trace again = parse_trace(json, "t.json", program);
  EXPECT_EQ(again.spans[1].task, 1);
  EXPECT_EQ(again.spans[1].transfer.picoseconds(), 2'000'000);
  EXPECT_THAT(again.classes[0].ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(trace_to_json(again, program), json);
}

TEST(TraceTest, MustBeOfItsProgram) {
  const Program program = two_tasks();
  const auto error = [&program](const std::string& text) {
    return error_of(
        [&] { parse_trace("executor: 'cpu' end_picoseconds: 9\n" + text, "t", program); });
  };
  EXPECT_EQ(error(""), "");
  EXPECT_EQ(error("program: 'q'"), "t:2:10: a trace of \"q\", not of \"p\"; give its own Program");
  EXPECT_EQ(error("classes { representative: 4 }"),
            "t:2:27: representative is 4; write a number from 0 to 3");
  EXPECT_EQ(error("spans { rank: 0 task: 'c' }"), "t:2:23: no task \"c\"; use one of a, b");
  const auto span = [](const std::string& task, int launched, int start, int end) {
    return "spans { rank: 0 task: '" + task +
           "' launched_picoseconds: " + std::to_string(launched) +
           " start_picoseconds: " + std::to_string(start) +
           " transfer_picoseconds: " + std::to_string(start) +
           " end_picoseconds: " + std::to_string(end) + " }\n";
  };
  EXPECT_EQ(error(span("a", 2, 1, 3)),
            "t:2:1: launched, start, transfer and end must not descend; correct the times");
  EXPECT_EQ(error(span("b", 0, 1, 3) + span("a", 0, 1, 3)),
            "t:3:1: spans must follow start, then task, then rank; sort them");
}

}  // namespace
}  // namespace moesim
