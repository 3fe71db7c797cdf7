// A GPU check that the simulator "measured": what is predicted from its record is what it recorded.
// No GPU made these files.
#include "sim/cli/recorded_crosscheck.h"

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/cli/calibration.h"
#include "sim/cli/inputs.h"
#include "sim/cli/subject.h"
#include "sim/cli/validate/sections.h"
#include "sim/engine/simulate.h"
#include "sim/io/files.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Inputs small_inputs() {
  return load_scenario_inputs("scenarios/gpu_check_4.txtpb",
                              {"model.sequence=256", "model.embedding=256", "model.hidden=512"});
}

// The spans of all ranks, as an executor has them.
MeasuredProgram record(const Program& program, const Inputs& inputs) {
  const Trace trace =
      simulate(program, &inputs.cluster, &inputs.profile, {.resolution = Resolution::kPorts});
  MeasuredProgram measured;
  measured.name = program.name;
  measured.hash = content_hash(program_to_json(program));
  measured.num_ranks = program.num_ranks;
  measured.runs = {{trace.end, trace.spans}, {trace.end, trace.spans}};
  return measured;
}

GpuCheck check_of(const Inputs& inputs) {
  GpuCheck check;
  for (const Program& program : programs_of(plan_for(inputs, inputs.scenario.schedules, true))) {
    check.programs.push_back(record(program, inputs));
  }
  for (const std::string& schedule : inputs.scenario.schedules) {
    PlanOptions plan;
    plan.degree = DegreeOption{.text = "2", .forward = 2, .backward = 2};
    check.programs.push_back(record(plan_subject(inputs, schedule, plan).program(), inputs));
  }
  return check;
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
  GpuSectionTest() : path_(testing::TempDir() + "moesim_gpu_check.json") {}

  validation::Finding study(const std::string& text) {
    write_file_atomically(path_, text);
    return validation::study_gpu({.scenarios = {small_inputs()}, .file = path_});
  }

  std::string path_;
};

TEST_F(GpuSectionTest, WithoutAFileItSaysThatNoGpuHasBeenHad) {
  const validation::Finding finding =
      validation::study_gpu({.scenarios = {}, .stored = "no/such/file"});
  EXPECT_EQ(finding.text, "No GPU has been had so far: nothing here was measured on one.\n\n");
  EXPECT_EQ(finding.num_misses, 0);
}

TEST_F(GpuSectionTest, ADifferentBufferIsAMiss) {
  const validation::Finding finding = study(R"({
      "version": "0", "date": "never", "environment": ["synthetic"],
      "parts": [{"name": "probes", "status": "CUT_OFF", "seconds": 9, "budget_seconds": 8,
                 "message": "cut off after 8 s"}],
      "equality": [{"program": "a", "num_ranks": 4, "num_buffers": 9, "num_different": 0},
                   {"program": "b", "num_ranks": 4, "num_buffers": 9, "num_different": 1},
                   {"program": "c", "num_ranks": 4, "failure": "exit code 1"}]})");
  EXPECT_EQ(finding.num_misses, 2);
  EXPECT_THAT(finding.text, HasSubstr("| probes | cut off | 9.0 | 8 | cut off after 8 s |"));
  EXPECT_THAT(finding.text, HasSubstr("| a | 4 | 9 | 0 | reproduced |"));
  EXPECT_THAT(finding.text, HasSubstr("| b | 4 | 9 | 1 | **MISS** |"));
  EXPECT_THAT(finding.text, HasSubstr("| c | 4 | - | exit code 1 | **MISS** |"));
  EXPECT_THAT(finding.text, HasSubstr("Not compared: "));
}

// 1 TFLOP in 2 ms and 2 TFLOP in 4 ms: 500 TFLOP/s; 100 launches in 300 us: 3 us.
TEST_F(GpuSectionTest, ProbesAreTabulated) {
  const validation::Finding finding = study(R"({
      "version": "0", "date": "never", "environment": ["synthetic"],
      "parts": [{"name": "probes", "status": "DONE", "seconds": 1, "budget_seconds": 8}],
      "probes": [{"num_sms": 100, "not_run": ["late: the budget is over"], "readings": [
        {"probe": {"kind": "GEMM", "rows": 5000, "columns": 10000, "depth": 10000, "cold": true},
         "picoseconds": [2000000000, 2000000000]},
        {"probe": {"kind": "GEMM", "rows": 10000, "columns": 10000, "depth": 10000, "cold": true},
         "picoseconds": [4000000000, 4000000000]},
        {"probe": {"kind": "LAUNCH", "kernels": 100}, "picoseconds": [300000000]},
        {"probe": {"kind": "LAUNCH", "kernels": 900}, "picoseconds": [1], "rejected": true}]}]})");
  EXPECT_EQ(finding.num_misses, 0);
  EXPECT_THAT(finding.text, HasSubstr("1 of 4 configurations rejected"));
  EXPECT_THAT(finding.text, HasSubstr("| 10000 x 10000 | cold | 0 s | 500.0 |"));
  EXPECT_THAT(finding.text, HasSubstr("A launch takes the host 3.000 us"));
  EXPECT_THAT(finding.text, HasSubstr("Not measured: late: the budget is over"));
}

}  // namespace
}  // namespace moesim
