// A GPU check that the simulator "measured": what is predicted from its record is what it recorded.
// No GPU made these files.
#include "sim/cli/recorded_crosscheck.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/cli/inputs.h"
#include "sim/io/files.h"
#include "tests/unit/cli/recorded_check.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kSeed = 20261201;

Inputs small_inputs() {
  const Inputs whole = load_scenario_inputs("scenarios/gpu_check_4.txtpb");
  return small_gpu_check(whole.scenario.schedules);
}

GpuCheck check_of(const Inputs& inputs) {
  return recorded_check({.scenarios = {.timed = {inputs}}}, kSeed);
}

// Collectives and operations are lines in the truth and are fitted by lines: only where the
// truth has a floor that no probe saw does a prediction differ.
TEST(RecordedCrosscheckTest, PredictsWhatTheSimulatorRecorded) {
  const Inputs inputs = small_inputs();
  const Crosscheck crosscheck = recorded_crosscheck(check_of(inputs), inputs, "r.json");
  EXPECT_EQ(crosscheck.baseline, "tutel");
  EXPECT_THAT(crosscheck.rows, SizeIs(8));
  EXPECT_THAT(crosscheck.not_run, IsEmpty());
  EXPECT_LT(worst_error(crosscheck), 0.02);
}

TEST(RecordedCrosscheckTest, SchedulesThatWereCutOffAreNamed) {
  const Inputs inputs = small_inputs();
  GpuCheck check = check_of(inputs);
  check.programs.pop_back();  // the last schedule's
  const Crosscheck crosscheck = recorded_crosscheck(check, inputs, "r.json");
  EXPECT_THAT(crosscheck.rows, SizeIs(7));
  EXPECT_THAT(crosscheck.not_run, SizeIs(1));
  EXPECT_THAT(crosscheck.not_run.front(), HasSubstr("sp_moe: r.json: no runs of"));
}

TEST(RecordedCrosscheckTest, WithoutProbesNothingIsPredicted) {
  const Inputs inputs = small_inputs();
  EXPECT_THROW(recorded_crosscheck(GpuCheck{}, inputs, "r.json"), Error);
}

class GpuSectionTest : public testing::Test {
 protected:
  // Tests run side by side.
  GpuSectionTest()
      : path_(testing::TempDir() + "moesim_gpu_check_" + std::to_string(getpid()) + ".json") {}
  ~GpuSectionTest() override { std::filesystem::remove(path_); }

  validation::Finding study(const std::string& text) {
    validation::GpuStudy study = small_gpu_study();
    study.file = path_;
    write_file_atomically(path_, text);
    return validation::study_gpu(study);
  }

  std::string error_of(const GpuCheck& check) {
    try {
      study(to_json(check));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::string path_;
};

TEST_F(GpuSectionTest, WithoutAFileItSaysThatNoGpuHasBeenHad) {
  const validation::Finding finding =
      validation::study_gpu({.scenarios = {}, .stored = "no/such/file"});
  EXPECT_EQ(finding.text, "No GPU has been had so far: nothing here was measured on one.\n\n");
  EXPECT_EQ(finding.num_misses, 0);
}

TEST_F(GpuSectionTest, AWholeFileMissesNothing) {
  const validation::Finding finding = study(to_json(recorded_check(small_gpu_study(), kSeed)));
  EXPECT_EQ(finding.num_misses, 0);
  EXPECT_THAT(finding.text, HasSubstr("| tutel | 4 |"));
  EXPECT_THAT(finding.text, HasSubstr("| attention | 3 | 9 | 0.00300 | consistent with |"));
  EXPECT_THAT(finding.text, HasSubstr("pairs in the measured order"));
}

// One of two with a difference, one that did not run, and the part that says so.
TEST_F(GpuSectionTest, ADifferentBufferFails) {
  GpuCheck check = recorded_check(small_gpu_study(), kSeed);
  check.equality[0].num_different = 1;
  check.equality[1].failure = "exit code 1: a | b";
  check.parts[0].status = GpuCheckStatus::kFailed;
  check.parts[0].message = "exit code 1";
  const validation::Finding finding = study(to_json(check));
  EXPECT_EQ(finding.num_misses, 3);
  EXPECT_THAT(finding.text, HasSubstr("| equality | **FAILED** | 7.0 | 100 | exit code 1 |"));
  EXPECT_THAT(finding.text, HasSubstr("| 1 | **FAILED** |\n"));
  EXPECT_THAT(finding.text, HasSubstr("| - | exit code 1: a \\| b | **FAILED** |\n"));
}

// The same of two processes, of which one Program is missing.
TEST_F(GpuSectionTest, ADifferentBufferOfProcessesFails) {
  GpuCheck check = recorded_check(small_gpu_study(), kSeed);
  check.nccl[0].num_different = 2;
  check.nccl.pop_back();
  check.parts.back().status = GpuCheckStatus::kCutOff;
  check.parts.back().message = "cut off after 30 s";
  const validation::Finding finding = study(to_json(check));
  EXPECT_EQ(finding.num_misses, 1);
  EXPECT_THAT(finding.text, HasSubstr("| 2 | **FAILED** |\n"));
  EXPECT_THAT(finding.text, HasSubstr("Cut off: 1 of 2 Programs."));
}

TEST_F(GpuSectionTest, WithoutMpiNothingOfProcessesIsMissed) {
  GpuCheck check = recorded_check(small_gpu_study(), kSeed);
  check.nccl.clear();
  check.parts.back().status = GpuCheckStatus::kSkipped;
  check.parts.back().message = "no mpirun of Open MPI";
  const validation::Finding finding = study(to_json(check));
  EXPECT_EQ(finding.num_misses, 0);
  EXPECT_THAT(finding.text, HasSubstr("| nccl | skipped | 7.0 | 100 | no mpirun of Open MPI |"));
  EXPECT_THAT(finding.text, HasSubstr("No Program was compared with the CPU backend: a process"));
}

TEST_F(GpuSectionTest, NothingComparedIsAFailure) {
  GpuCheck check = recorded_check(small_gpu_study(), kSeed);
  check.equality.clear();
  check.nccl.clear();
  check.programs.clear();
  for (GpuCheckPart& part : check.parts) {
    part.status = GpuCheckStatus::kCutOff;
    part.message = "cut off after 1 s";
  }
  const validation::Finding finding = study(to_json(check));
  EXPECT_EQ(finding.num_misses, 1);
  EXPECT_THAT(finding.text, HasSubstr("**FAILED**: nothing was compared"));
}

TEST_F(GpuSectionTest, WhatThisBuildDoesNotMakeIsRefused) {
  const GpuCheck whole = recorded_check(small_gpu_study(), kSeed);
  GpuCheck check = whole;
  check.programs[2].hash = "0123456789abcdef";
  EXPECT_THAT(error_of(check),
              HasSubstr("programs[2].hash: \"0123456789abcdef\" is of no Program that this build"));
  check = whole;
  check.programs[2].name = "else";
  EXPECT_THAT(error_of(check), HasSubstr("programs[2]: \"else\" on 4 ranks, but its hash is that"));
  check = whole;
  check.equality[1].num_buffers += 1;
  EXPECT_THAT(error_of(check), HasSubstr("equality[1].num_buffers: "));
  check = whole;
  check.attention[0].program = "else";
  EXPECT_THAT(error_of(check),
              HasSubstr("attention[0].program: this build compares the attention"));
  check = whole;
  check.equality[0].num_ranks = 2;
  EXPECT_THAT(error_of(check),
              HasSubstr("equality[0]: this build compares no \"tutel\" on 2 ranks"));
  check = whole;
  check.nccl[1].num_buffers += 1;
  EXPECT_THAT(error_of(check), HasSubstr("nccl[1].num_buffers: "));
  check = whole;
  check.nccl[0].num_ranks = 2;
  EXPECT_THAT(error_of(check), HasSubstr("nccl[0]: this build compares no \"tutel\" on 2 ranks"));
}

// The spans of one run, in which one is missing or another's.
TEST_F(GpuSectionTest, SpansThatAreMissingAreRefused) {
  const GpuCheck whole = recorded_check(small_gpu_study(), kSeed);
  GpuCheck check = whole;
  std::vector<TaskSpan>& spans = check.programs.back().runs[1].spans;
  spans.erase(spans.begin());
  EXPECT_THAT(error_of(check), HasSubstr(".runs[1].spans: "));
  EXPECT_THAT(error_of(check), HasSubstr("spans, but the tasks of"));
  check = whole;
  check.programs.back().runs[0].spans.front().rank = 9;
  EXPECT_THAT(error_of(check), HasSubstr("on rank 9, which gpu_check_4/fsmoe does not run"));
}

// 1 TFLOP in 2 ms and 2 TFLOP in 4 ms: 500 TFLOP/s; 100 launches in 300 us: 3 us.
TEST_F(GpuSectionTest, ProbesAreTabulated) {
  const auto milliseconds = [](double time) { return Time::from_seconds(time * 1e-3); };
  const auto gemm = [](int64_t rows) {
    return GpuProbe{
        .kind = GpuProbeKind::kGemm, .rows = rows, .columns = 10000, .depth = 10000, .cold = true};
  };
  const auto launches = [](int kernels) {
    return GpuProbe{.kind = GpuProbeKind::kLaunch, .kernels = kernels};
  };
  GpuCheck check = recorded_check(small_gpu_study(), kSeed);
  check.probes[0].readings = {
      {.probe = gemm(5000), .times = {milliseconds(2), milliseconds(2)}, .group = "g"},
      {.probe = gemm(10000), .times = {milliseconds(4), milliseconds(4)}, .group = "g"},
      {.probe = launches(100), .times = {milliseconds(0.3)}, .group = "l"},
      {.probe = launches(900),
       .times = {milliseconds(1)},
       .drift = 0.5,
       .rejected = true,
       .group = "l"}};
  check.probes[0].not_run = {"late: the budget is over"};
  check.probes[0].num_planned = 5;
  check.probes[1].readings.clear();
  check.probes[1].not_run = {"queues: the budget is over"};
  const validation::Finding finding = study(to_json(check));
  EXPECT_EQ(finding.num_misses, 0);
  EXPECT_THAT(finding.text, HasSubstr("1 of 4 configurations rejected"));
  EXPECT_THAT(finding.text, HasSubstr("| 10000 x 10000 | cold | 0 s | 500.0 |"));
  EXPECT_THAT(finding.text, HasSubstr("A launch takes the host 3.000 us"));
  EXPECT_THAT(finding.text, HasSubstr("Not measured: late: the budget is over"));
}

}  // namespace
}  // namespace moesim
