// The sections of `moesim validate` about Programs that were run for real: equality and crosscheck.
#include <filesystem>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/cli/validate/sections.h"
#include "sim/io/files.h"

namespace moesim::validation {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

// Chunks of one: 4 + 5 layouts of 4 and 8 ranks and 2 + 2 of them in stages, 3 loads.
EqualityStudy small_equality() {
  EqualityStudy study;
  study.num_workers = 2;
  study.schedules = {"deepspeed_moe"};
  return study;
}

TEST(EqualityStudyTest, EveryProgramEqualsTheReference) {
  const Finding finding = study_equality(small_equality());
  EXPECT_EQ(finding.num_misses, 0) << finding.text;
  EXPECT_THAT(finding.text, HasSubstr("| `deepspeed_moe` | 1 | 18 | 21 | 39 | "));
  EXPECT_THAT(finding.text, Not(HasSubstr("| 0 (0 %) |"))) << "nothing is dropped";
  EXPECT_THAT(finding.text, Not(HasSubstr("The first that differs")));
}

// A task on 8 ranks that drop tokens reads a row too far of what another one wrote.
Program off_by_a_row(const std::string& schedule,
                     const Scenario& scenario,
                     const Degrees& degrees,
                     const Evaluator& evaluator) {
  Program program = build_schedule(schedule, scenario, degrees, evaluator);
  for (Task& task : program.tasks) {
    for (Region& region : task.reads) {
      const Tensor& tensor = program.tensors[static_cast<std::size_t>(region.tensor)];
      if (scenario.model.capacity_factor && program.num_ranks == 8 && !tensor.input &&
          region.first_row + region.num_rows < tensor.rows) {
        ++region.first_row;
        return program;
      }
    }
  }
  return program;
}

TEST(EqualityStudyTest, ARegionOffByARowIsAMissAndNamed) {
  EqualityStudy study = small_equality();
  study.schedules = {"tutel"};
  study.build = off_by_a_row;
  const Finding finding = study_equality(study);
  // Of 9 layouts * 3 loads * 5 degrees and 4 in stages * 3 * 2, together 159, those of the 5 + 2
  // layouts of 8 ranks with drops differ: 159 - 5 * 5 - 2 * 2 = 130.
  EXPECT_EQ(finding.num_misses, 1);
  EXPECT_THAT(finding.text, HasSubstr("| 72 | 87 | 130 |"));
  EXPECT_THAT(finding.text, HasSubstr("| **MISS** |"));
  EXPECT_THAT(finding.text, HasSubstr("The first that differs: tutel, drops, mp 2 dp 4"));
}

TEST(EqualityCasesTest, HoldEveryDegreeLoadAndNumberOfRanks) {
  // 9 layouts * 3 loads * 5 degrees and 4 in stages * 3 * 2; parm_baseline where mp = esp: 5
  // layouts and 4 in stages * 3 loads.
  EXPECT_EQ(equality_cases("tutel").size(), 159U);
  EXPECT_EQ(equality_cases("parm_baseline").size(), 27U);
}

class CrosscheckStudyTest : public testing::Test {
 protected:
  CrosscheckStudyTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("crosscheck_") + test->name());
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~CrosscheckStudyTest() override { fs::remove_all(folder_); }

  // Predicted 2.0 s and 1.1 s against measured 2.2 s and 1.0 s: errors of -9.1 % and +10.0 %, whose
  // lower median is 9.1 %. Speed-ups 1.818 and 2.2: -17.4 %.
  void store(const std::string& name, const std::string& bar, bool modelled) {
    const auto row = [](const char* schedule, const char* predicted, const char* measured) {
      return std::string(R"({"schedule": ")") + schedule +
             R"(", "forward_degree": 2, "backward_degree": 2, "predicted_seconds": )" + predicted +
             R"(, "measured_seconds": )" + measured + R"(, "measured_p25_seconds": )" + measured +
             R"(, "runs": 10, "rejected": 1, "lateness_seconds": 0.001})";
    };
    write_file_atomically(
        folder_ / name,
        R"({"command": "moesim crosscheck x", )"
        R"("date": "2026-11-30", "machine": "a laptop", "bar": )" +
            bar + R"(, "crosscheck": {"backend": "cpu", "baseline": "tutel", "modelled": )" +
            (modelled ? "true" : "false") + R"(, "rows": [)" + row("tutel", "2.0", "2.2") + ", " +
            row("fsmoe", "1.1", "1.0") + R"(], "not_run": [], "assumptions": ["clock free"]}})");
  }

  Finding study() { return study_crosscheck({folder_.string()}); }

  fs::path folder_;
};

TEST_F(CrosscheckStudyTest, SaysWhereItWasMeasuredAndHowToRerunIt) {
  store("a.json", "{}", true);
  const Finding finding = study();
  EXPECT_EQ(finding.num_misses, 0);
  EXPECT_THAT(finding.text,
              HasSubstr("Measured on 2026-11-30, on a laptop. Rerun with: `moesim crosscheck x`; "
                        "figures differ from run to run."));
  EXPECT_THAT(finding.text, HasSubstr("**wiring test**"));
  EXPECT_THAT(finding.text,
              HasSubstr("| fsmoe | 2 / 2 | 1100.000 ms | 1000.000 ms (1000.000 ms) | +10.0 % | "
                        "-17.4 % | 10 (1) | 1.000 ms |"));
  EXPECT_THAT(finding.text,
              HasSubstr("| largest error of a schedule | 10.0 % | none | information |"));
  EXPECT_THAT(finding.text, HasSubstr("Rests on:\n\n- clock free"));
  EXPECT_THAT(finding.text, Not(HasSubstr("Not run")));
}

TEST_F(CrosscheckStudyTest, EachBarIsJudged) {
  store("a.json",
        R"({"error": 0.05, "median_error": 0.1, "speedup_error": 0.05, "ranking": true})",
        false);
  const Finding finding = study();
  EXPECT_EQ(finding.num_misses, 2);
  EXPECT_THAT(finding.text, Not(HasSubstr("wiring test")));
  EXPECT_THAT(finding.text, HasSubstr("schedule | 10.0 % | at most 5.0 % | **MISS** |"));
  EXPECT_THAT(finding.text, HasSubstr("schedules | 9.1 % | at most 10.0 % | consistent with |"));
  EXPECT_THAT(finding.text, HasSubstr("`tutel` | 17.4 % | at most 5.0 % | **MISS** |"));
  EXPECT_THAT(finding.text, HasSubstr("| 1 | all | consistent with |"));
}

TEST_F(CrosscheckStudyTest, FilesComeByName) {
  store("b.json", R"({"error": 0.01})", false);
  store("a.json", R"({"error": 0.01})", false);
  const Finding finding = study();
  EXPECT_EQ(finding.num_misses, 2);
  EXPECT_LT(finding.text.find("a.json"), finding.text.find("b.json"));
}

TEST_F(CrosscheckStudyTest, AnEmptyFolderIsAnError) {
  EXPECT_THROW(study(), Error);
}

}  // namespace
}  // namespace moesim::validation
