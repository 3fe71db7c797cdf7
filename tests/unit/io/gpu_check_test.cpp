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
        "parts": [{"name": "equality", "status": "DONE", "seconds": 12.5, "budget_seconds": 120}])";

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
          .beside_sms = 32,
          .cold = true};
}

GpuProbe pair() {
  return {.kind = GpuProbeKind::kCollectivePair,
          .priority = true,
          .streams = 2,
          .kernels = 3,
          .queues = 8,
          .bytes = 4096,
          .blocks = 16,
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
  ASSERT_THAT(check.parts, SizeIs(1));
  EXPECT_EQ(check.parts[0].name, "equality");
  EXPECT_EQ(check.parts[0].status, GpuCheckStatus::kDone);
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
}

TEST(GpuCheckTest, ProbesThatAreWrittenAreRead) {
  GpuProbes probes;
  probes.environment = {"driver 1"};
  probes.num_sms = 132;
  probes.readings = {
      {.probe = gemm(), .times = {Time::from_picoseconds(7)}, .drift = 0.25, .rejected = true},
      {.probe = pair(), .times = {Time::from_picoseconds(8), Time::from_picoseconds(9)}}};
  probes.not_run = {"late: the budget is over"};
  const GpuCheck check = parse(", \"probes\": [" + probes_to_json(probes) + "]");
  ASSERT_THAT(check.probes, SizeIs(1));
  const GpuProbes& read = check.probes[0];
  EXPECT_THAT(read.environment, ElementsAre("driver 1"));
  EXPECT_EQ(read.num_sms, 132);
  ASSERT_THAT(read.readings, SizeIs(2));
  EXPECT_EQ(read.readings[0].probe, gemm());
  EXPECT_EQ(read.readings[0].drift, 0.25);
  EXPECT_TRUE(read.readings[0].rejected);
  EXPECT_EQ(read.readings[1].probe, pair());
  EXPECT_THAT(read.readings[1].times,
              ElementsAre(Time::from_picoseconds(8), Time::from_picoseconds(9)));
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
            "r.json: parts: GpuCheck has no \"parts\"; give a file that tests/gpu/run.sh wrote");
  EXPECT_EQ(error_with(R"(, "equality": [{"program": "a", "num_ranks": 4}])"),
            "r.json: equality[0].num_buffers: EqualityCase has no \"num_buffers\"; add it");
  EXPECT_EQ(error_with(R"(, "programs": [{"name": "p", "hash": "0", "num_ranks": 2}])"),
            "r.json: programs[0].runs: a Program without runs; remove it");
}

TEST(GpuCheckTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(error_with(R"(, "equality": [
                {"program": "a", "num_ranks": 4, "num_buffers": 2, "num_different": 3}])"),
            "r.json: equality[0].num_different: num_different is 3; write a number from 0 to 2");
  const std::string reading = R"(, "probes": [{"num_sms": 1, "readings": [{"probe": {}%}]}])";
  const auto with_times = [&](const std::string& times) {
    std::string text = reading;
    return error_with(text.replace(text.find('%'), 1, times));
  };
  EXPECT_EQ(with_times(""),
            "r.json: probes[0].readings[0].picoseconds: a reading without times; remove it");
  EXPECT_EQ(with_times(R"(, "picoseconds": [5, 0])"),
            "r.json: probes[0].readings[0].picoseconds[1]: picoseconds is 0; write a number from 1 "
            "to 9223372036854775807");
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
}

}  // namespace
}  // namespace moesim
