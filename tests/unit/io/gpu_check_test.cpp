// Result files of the GPU check: synthetic, no GPU made them.
#include "sim/io/gpu_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kHead =
    R"({"version": "0.1.0", "date": "2026-01-01 00:00 UTC", "environment": ["no GPU at all"],
        "parts": [
        {"name": "equality", "status": "CUT_OFF", "seconds": 12.5, "budget_seconds": 120,
         "num_planned": 2, "message": "m"},
        {"name": "probes", "status": "CUT_OFF", "seconds": 1, "budget_seconds": 1,
         "num_planned": 1, "message": "m"},
        {"name": "queues", "status": "CUT_OFF", "seconds": 1, "budget_seconds": 1,
         "num_planned": 1, "message": "m"},
        {"name": "attention", "status": "SKIPPED", "seconds": 1, "budget_seconds": 1,
         "num_planned": 1, "message": "m"},
        {"name": "schedules", "status": "CUT_OFF", "seconds": 1, "budget_seconds": 1,
         "num_planned": 1, "message": "m"},
        {"name": "nccl", "status": "CUT_OFF", "seconds": 1, "budget_seconds": 1,
         "num_planned": 2, "message": "m"}])";

std::string with(const std::string& rest) {
  return std::string(kHead) + rest + "}";
}

GpuCheck parse(const std::string& rest) {
  return parse_gpu_check(with(rest), "r.json");
}

std::string error(const std::string& text) {
  return error_of([&text] { parse_gpu_check(text, "r.json"); });
}

std::string error_with(const std::string& rest) {
  return error(with(rest));
}

GpuProbe gemm() {
  return {.kind = GpuProbeKind::kGemmBesideSpin,
          .rows = 64,
          .columns = 128,
          .depth = 256,
          .sms = 100,
          .beside_sms = 32};
}

GpuProbe pair() {
  return {.kind = GpuProbeKind::kCollectivePair,
          .bytes = 4096,
          .operation = CollectiveOperation::kAllToAll,
          .group_size = 2,
          .ctas = 4,
          .packed = true};
}

Program two_tasks() {
  Program program;
  program.name = "p";
  program.num_ranks = 2;
  program.tasks.resize(2);
  return program;
}

TEST(GpuCheckTest, ReadsParts) {
  const GpuCheck check = parse("");
  EXPECT_EQ(check.version, "0.1.0");
  EXPECT_EQ(check.date, "2026-01-01 00:00 UTC");
  EXPECT_THAT(check.environment, ElementsAre("no GPU at all"));
  ASSERT_THAT(check.parts, SizeIs(6));
  EXPECT_EQ(check.parts[0].name, "equality");
  EXPECT_EQ(check.parts[0].status, GpuCheckStatus::kCutOff);
  EXPECT_EQ(check.parts[3].status, GpuCheckStatus::kSkipped);
  EXPECT_EQ(check.parts[0].seconds, 12.5);
  EXPECT_THAT(check.probes, IsEmpty());
}

TEST(GpuCheckTest, ReadsEquality) {
  const GpuCheck check = parse(
      R"(, "equality": [{"program": "a", "num_ranks": 4, "num_buffers": 9, "num_different": 1},
                        {"program": "b", "num_ranks": 8, "failure": "cut off"}])");
  ASSERT_THAT(check.equality, SizeIs(2));
  EXPECT_EQ(check.equality[0].num_buffers, 9);
  EXPECT_EQ(check.equality[0].num_different, 1);
  EXPECT_EQ(check.equality[1].failure, "cut off");
  EXPECT_THAT(check.nccl, IsEmpty());
}

TEST(GpuCheckTest, ReadsWhatTwoProcessesComputed) {
  const GpuCheck check = parse(
      R"(, "nccl": [{"program": "a", "num_ranks": 2, "num_buffers": 9, "num_different": 1},
                    {"program": "b", "num_ranks": 2, "failure": "exit code 1"}])");
  ASSERT_THAT(check.nccl, SizeIs(2));
  EXPECT_EQ(check.nccl[0].num_different, 1);
  EXPECT_EQ(check.nccl[1].failure, "exit code 1");
  EXPECT_THAT(check.equality, IsEmpty());
}

TEST(GpuCheckTest, ProbesThatAreWrittenAreRead) {
  GpuProbes probes;
  probes.environment = {"no GPU at all", "NCCL_ALGO=Ring"};
  probes.num_sms = 132;
  probes.num_planned = 3;
  probes.readings = {{.probe = gemm(),
                      .times = {Time::from_picoseconds(7000)},
                      .drift = 0.25,
                      .rejected = true,
                      .group = "a"},
                     {.probe = pair(),
                      .times = {Time::from_picoseconds(8000), Time::from_picoseconds(9000)},
                      .group = "b"}};
  probes.not_run = {"late: the budget is over"};
  const GpuCheck check = parse(", \"probes\": [" + probes_to_json(probes) + "]");
  ASSERT_THAT(check.probes, SizeIs(1));
  const GpuProbes& read = check.probes[0];
  EXPECT_THAT(read.environment, ElementsAre("no GPU at all", "NCCL_ALGO=Ring"));
  EXPECT_EQ(read.num_planned, 3);
  EXPECT_EQ(read.readings[1].group, "b");
  EXPECT_EQ(read.num_sms, 132);
  ASSERT_THAT(read.readings, SizeIs(2));
  EXPECT_EQ(read.readings[0].probe, gemm());
  EXPECT_EQ(read.readings[0].drift, 0.25);
  EXPECT_TRUE(read.readings[0].rejected);
  EXPECT_EQ(read.readings[1].probe, pair());
  EXPECT_THAT(read.readings[1].times,
              ElementsAre(Time::from_picoseconds(8000), Time::from_picoseconds(9000)));
  EXPECT_THAT(read.not_run, ElementsAre("late: the budget is over"));
}

TEST(GpuCheckTest, ProgramsThatAreWrittenAreRead) {
  const auto time = [](std::int64_t value) { return Time::from_picoseconds(value); };
  MeasuredProgram measured{"p", "00ff", 2, {}};
  measured.runs = {{time(50), {{1, 0, time(1), time(2), time(3), time(50)}}}};
  const GpuCheck check = parse(", \"programs\": [" + measured_program_to_json(measured) + "]");
  ASSERT_THAT(check.programs, SizeIs(1));
  EXPECT_EQ(check.programs[0].hash, "00ff");
  const std::vector<Trace> traces = measured_traces(check.programs[0], two_tasks(), "r.json");
  ASSERT_THAT(traces, SizeIs(1));
  EXPECT_EQ(traces[0].end, time(50));
  EXPECT_THAT(traces[0].classes, SizeIs(2));
  EXPECT_EQ(traces[0].spans[0].rank, 1);
  EXPECT_EQ(traces[0].spans[0].transfer, time(3));
}

TEST(GpuCheckTest, SpansOfAnotherProgramAreRefused) {
  MeasuredProgram measured{"p", "00ff", 2, {}};
  measured.runs = {{Time::from_picoseconds(50), {{0, 2, {}, {}, {}, {}}}}};
  EXPECT_EQ(error_of([&] { measured_traces(measured, two_tasks(), "r.json"); }),
            "r.json: p: a span of task 2 on rank 0, but it has 2 tasks and 2 ranks; check the file "
            "with the moesim of its version");
}

TEST(GpuCheckTest, WhatIsMissingIsSaid) {
  EXPECT_EQ(error("{}"), "r.json: version: GpuCheck has no \"version\"; add it");
  EXPECT_EQ(error(R"({"version": "1", "date": "d"})"),
            "r.json: environment: GpuCheck has no \"environment\"; it names the GPU");
  EXPECT_EQ(error(R"({"version": "1", "date": "d", "environment": ["e"]})"),
            "r.json: parts: no part \"equality\"; give a file that this version's tests/gpu/run.sh "
            "wrote");
  EXPECT_EQ(error_with(R"(, "equality": [{"program": "a", "num_ranks": 4}])"),
            "r.json: equality[0].num_buffers: EqualityCase has no \"num_buffers\"; add it");
  EXPECT_EQ(error_with(R"(, "programs": [{"name": "p", "hash": "0", "num_ranks": 2}])"),
            "r.json: programs[0].runs: a Program without runs; remove it");
}

TEST(GpuCheckTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(error_with(R"(, "equality": [
                {"program": "a", "num_ranks": 4, "num_buffers": 2, "num_different": 3}])"),
            "r.json: equality[0].num_different: num_different is 3; write a number from 0 to 2");
}

// The error of a reading: its probe, and what else it has.
std::string error_of_reading(const std::string& probe, const std::string& rest) {
  return error_with(R"(, "probes": [{"environment": ["no GPU at all"], "num_sms": 8,
    "num_planned": 1, "readings": [{"group": "g", "probe": {)" +
                    probe + "}, " + rest + "}]}]");
}

TEST(GpuCheckTest, ProbesHaveWhatTheirKindNeeds) {
  const std::string at = "r.json: probes[0].readings[0].";
  const std::string rest = R"("picoseconds": [5000000], "drift": 0, "rejected": false)";
  EXPECT_EQ(error_of_reading(R"("kind": "LAUNCH", "kernels": 3)", rest), "");
  EXPECT_EQ(error_of_reading(R"("kind": "LAUNCH")", rest),
            at + R"(probe.kernels: launch has no "kernels"; add it)");
  EXPECT_EQ(error_of_reading(R"("kind": "LAUNCH", "kernels": 3, "cold": true)", rest),
            at + R"(probe.cold: "cold" does not matter to launch; remove it)");
  EXPECT_EQ(error_of_reading(R"("kind": "COPY", "bytes": 0, "blocks": 1)", rest),
            at + "probe.bytes: bytes is 0; write a number from 1 to 1000000000000");
  EXPECT_EQ(error_of_reading(R"("kind": "GEMM_BESIDE_SPIN", "rows": 1, "columns": 1, "depth": 1,
                                "beside_sms": 8)",
                             rest),
            at + "probe.beside_sms: beside_sms is 8; write a number from 1 to 7");
}

TEST(GpuCheckTest, TimesThatCannotBeAreRefused) {
  const std::string at = "r.json: probes[0].readings[0].";
  const std::string launch = R"("kind": "LAUNCH", "kernels": 3)";
  EXPECT_EQ(error_of_reading(launch, R"("drift": 0, "rejected": false)"),
            at + "picoseconds: a reading without times; remove it");
  EXPECT_EQ(error_of_reading(launch, R"("picoseconds": [5000, 0], "drift": 0, "rejected": false)"),
            at + "picoseconds[1]: picoseconds is 0; write a number from 1000 to 3600000000000000");
  EXPECT_EQ(
      error_of_reading(launch, R"("picoseconds": [5000], "drift": 0.5, "rejected": false)"),
      at + "rejected: a drift of 0.5 was not rejected; more than 0.03 is rejected, less is not");
  // 2 PFLOP in a microsecond.
  EXPECT_EQ(
      error_of_reading(R"("kind": "GEMM", "rows": 100000, "columns": 100000, "depth": 100000)",
                       R"("picoseconds": [1000000], "drift": 0, "rejected": false)"),
      at + "picoseconds[0]: gemm, 100000 x 100000 x 100000 in 1000000 ps, which no GPU does; "
           "measure it anew");
}

TEST(GpuCheckTest, ProbesOfOtherGpusAreRefused) {
  EXPECT_EQ(
      error_with(R"(, "probes": [{"environment": ["GPU 1"], "num_sms": 8, "num_planned": 1,
                          "not_run": ["x"]}])"),
      "r.json: probes[0].environment: \"GPU 1\" is not in the check's own environment; all of a "
      "file is of one GPU, driver and libraries");
}

TEST(GpuCheckTest, MoreResultsThanPlannedAreRefused) {
  EXPECT_EQ(error_with(R"(, "equality": [{"program": "a", "num_ranks": 4, "failure": "x"},
                {"program": "b", "num_ranks": 4, "failure": "x"},
                {"program": "c", "num_ranks": 4, "failure": "x"}])"),
            "r.json: equality: 3 where 2 were planned; the file is damaged");
  EXPECT_EQ(error_with(R"(, "equality": [{"program": "a", "num_ranks": 4, "failure": "x"},
                {"program": "a", "num_ranks": 4, "failure": "x"}])"),
            "r.json: equality[1]: stands twice in the file; remove one");
  const std::string a = R"({"program": "a", "num_ranks": 2, "failure": "x"})";
  const std::string b = R"({"program": "b", "num_ranks": 2, "failure": "x"})";
  const std::string c = R"({"program": "c", "num_ranks": 2, "failure": "x"})";
  EXPECT_EQ(error_with(", \"nccl\": [" + a + ", " + b + ", " + c + "]"),
            "r.json: nccl: 3 where 2 were planned; the file is damaged");
  EXPECT_EQ(error_with(", \"nccl\": [" + a + ", " + a + "]"),
            "r.json: nccl[1]: stands twice in the file; remove one");
  // Both lists may have a Program of one name.
  EXPECT_EQ(error_with(", \"equality\": [" + a + "], \"nccl\": [" + a + "]"), "");
}

// A part that is done has all that it planned, and nothing that failed.
TEST(GpuCheckTest, ProcessesThatAreDoneHaveAllResults) {
  const auto error_of_done = [](const std::string& list) {
    const std::string planned = R"("num_planned": 2, "message": "m"}])";
    std::string head = kHead;
    head.replace(head.rfind(planned), planned.size(), R"("num_planned": 1}])");
    const std::string status = R"("nccl", "status": "CUT_OFF")";
    head.replace(head.find(status), status.size(), R"("nccl", "status": "DONE")");
    return error(head + ", \"nccl\": [" + list + "]}");
  };
  EXPECT_EQ(error_of_done(""),
            "r.json: nccl: 0 where 1 were planned and all are done; the file is damaged");
  EXPECT_EQ(error_of_done(R"({"program": "a", "num_ranks": 2, "failure": "x"})"),
            "r.json: nccl: 1 failed in a part that is done; the file is damaged");
  EXPECT_EQ(
      error_of_done(R"({"program": "a", "num_ranks": 2, "num_buffers": 9, "num_different": 1})"),
      "");
}

TEST(GpuCheckTest, SpansAreSixNumbersInOrder) {
  const auto error_of_spans = [](const std::string& spans) {
    return error_with(R"(, "programs": [{"name": "p", "hash": "0", "num_ranks": 2, "runs":
                         [{"end_picoseconds": 9, "spans": [)" +
                      spans + "]}]}]");
  };
  EXPECT_EQ(error_of_spans("1, 2, 3"),
            "r.json: programs[0].runs[0].spans: 3 numbers; give 6 for each span: rank, task, "
            "launched, start, transfer, end");
  EXPECT_EQ(error_of_spans("0, 1, 5, 4, 6, 7"),
            "r.json: programs[0].runs[0].spans: a span reads 0 1 5 4 6 7; it is rank, task, and "
            "launched, start, transfer, end, which do not descend");
  EXPECT_EQ(
      error_of_spans("0, 1, 4, 5, 6, 7"),
      "r.json: programs[0].runs[0].end_picoseconds: 9 is not the end of the last span, 7; the "
      "file is damaged");
  EXPECT_EQ(error_of_spans("0, 1, 4, 5, 6, 9, 0, 1, 4, 5, 6, 9"),
            "r.json: programs[0].runs[0].spans: task 1 ends twice on rank 0; remove one");
}

}  // namespace
}  // namespace moesim
