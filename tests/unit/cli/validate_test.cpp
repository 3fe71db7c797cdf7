// The sections of `moesim validate` at a small size, and that each of their bars fails when what it
// is compared with is off. Studies run in worker processes, as the command runs them: SimGrid does
// not survive a fork. Scenarios are the repository's.
#include <gmock/gmock.h>

#include "sim/cli/validate/all_sections.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/sections.h"
#include "sim/io/files.h"

namespace moesim::validation {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kMiss = "**MISS**";

Inputs small_quickstart() {
  Inputs inputs = load_inputs("scenarios/quickstart.txtpb");
  inputs.scenario.model.layers = 1;
  DegreeConfig& degrees = inputs.scenario.degrees;
  degrees.forward = degrees.backward = 2;
  degrees.non_moe = 1;
  return inputs;
}

TEST(FindingTest, AFigureIsReproducedConsistentOrMissed) {
  // 1.09 to two digits is anything in [1.085, 1.095].
  EXPECT_EQ(judge(1.0949, {1.09, 0.04}), Standing::kReproduced);
  EXPECT_EQ(judge(1.0851, {1.09, 0.04}), Standing::kReproduced);
  EXPECT_EQ(judge(1.096, {1.09, 0.04}), Standing::kConsistent);
  EXPECT_EQ(judge(1.0501, {1.09, 0.04}), Standing::kConsistent);
  EXPECT_EQ(judge(1.1301, {1.09, 0.04}), Standing::kMiss);
  EXPECT_EQ(judge(1.0499, {1.09, 0.04}), Standing::kMiss);
}

TEST(FindingTest, OnlyMissesCount) {
  SectionWriter writer;
  EXPECT_EQ(writer.verdict(true), "reproduced");
  EXPECT_EQ(writer.verdict(Standing::kConsistent), "consistent with");
  EXPECT_EQ(writer.verdict(false), kMiss);
  EXPECT_EQ(std::move(writer).finish().num_misses, 1);
}

std::vector<TaskSpan> a_picosecond_late(const Program& program, const RecurrenceOptions& options) {
  std::vector<TaskSpan> spans = solve_recurrence(program, options);
  spans.back().end += Time::from_picoseconds(1);
  return spans;
}

Finding recurrence(RecurrenceStudy::Solve solve) {
  return in_a_worker([solve] {
    RecurrenceStudy study;
    study.num_programs = 40;
    study.solve = solve;
    return study_recurrence(study);
  });
}

TEST(RecurrenceStudyTest, RandomProgramsAreEqual) {
  const Finding finding = recurrence(solve_recurrence);
  EXPECT_EQ(finding.num_misses, 0) << finding.text;
  EXPECT_THAT(finding.text, HasSubstr("| 40 | reproduced |"));
}

TEST(RecurrenceStudyTest, APicosecondIsAMiss) {
  const Finding finding = recurrence(a_picosecond_late);
  EXPECT_EQ(finding.num_misses, 1);
  EXPECT_THAT(finding.text, HasSubstr("| 0 | **MISS** |"));
}

double a_picosecond_more(int r, const ChunkTimes& times) {
  return fsmoe_bound(r, times) + 1;
}

double a_picosecond_less(int r, const ChunkTimes& times) {
  return pipemoe_time(r, times) - 1;
}

Finding closed_forms(ClosedFormStudy::Formula fsmoe, ClosedFormStudy::Formula pipemoe) {
  return in_a_worker([fsmoe, pipemoe] {
    ClosedFormStudy study;
    study.num_sets = 60;
    study.fsmoe = fsmoe;
    study.pipemoe = pipemoe;
    return study_closed_forms(study);
  });
}

TEST(ClosedFormStudyTest, RegionsEqualTheFormulas) {
  const Finding finding = closed_forms(fsmoe_bound, pipemoe_time);
  EXPECT_EQ(finding.num_misses, 0) << finding.text;
  EXPECT_THAT(finding.text, Not(HasSubstr(kMiss)));
}

// One more picosecond is neither equal nor a lower bound.
TEST(ClosedFormStudyTest, AHigherFormulaMissesBothOfFsmoesClaims) {
  EXPECT_EQ(closed_forms(a_picosecond_more, pipemoe_time).num_misses, 2);
}

TEST(ClosedFormStudyTest, ALowerFormulaMissesPipeMoesClaim) {
  EXPECT_EQ(closed_forms(fsmoe_bound, a_picosecond_less).num_misses, 1);
}

TEST(Table2StudyTest, ReproducesMixtralOnTestbedA) {
  const Finding finding = in_a_worker([] {
    return study_table2({load_inputs("scenarios/gpt2xl_testbed_a.txtpb"),
                         load_inputs("scenarios/mixtral_testbed_a.txtpb"),
                         load_inputs("scenarios/gpt2xl_testbed_b.txtpb"),
                         load_inputs("scenarios/mixtral_testbed_b.txtpb")});
  });
  // AllReduce of 2.5*M^2/N_MP = 2.5*4096^2/8 = 5,242,880 elements:
  // 0.511 ms + 5,242,880 * 4.95e-6 ms = 26.46 ms.
  EXPECT_THAT(finding.text, HasSubstr("26.46 / 26.45 (+0 %)"));
  // Two AlltoAlls of kf*B*L*M/N_ESP = 2*4*1024*4096/8 = 4,194,304 elements, held in
  // ceil(2*512/6) = 171 rows for each of 6 experts: 171*6*4096 = 4,202,496.
  // 2 * (0.287 ms + 4,202,496 * 2.21e-6 ms) = 19.15 ms.
  EXPECT_THAT(finding.text, HasSubstr("19.15 / 19.5 (-2 %)"));
}

GridStudy small_grid() {
  GridStudy study;
  study.testbed_a = load_inputs("scenarios/mixtral_testbed_a.txtpb");
  study.testbed_b = load_inputs("scenarios/mixtral_testbed_b.txtpb");
  study.num_workers = 2;
  study.stride = 41;  // 12 of 486 points on each
  return study;
}

TEST(GridStudyTest, AverageThatIsOffIsAMiss) {
  GridStudy study = small_grid();
  EXPECT_EQ(study_grid(study).num_misses, 0);
  study.published_a.tutel_improved = 2;  // no schedule gains that much here
  study.published_b.fsmoe_no_iio = 0.5;
  const Finding finding = study_grid(study);
  EXPECT_EQ(finding.num_misses, 2);
  EXPECT_THAT(finding.text, HasSubstr("| 2.00 |"));
}

std::string constant_report(const Inputs& /*inputs*/, const std::string& schedule) {
  return schedule;
}

// What the process did before shows.
std::string counting_report(const Inputs& /*inputs*/, const std::string& /*schedule*/) {
  static int num_calls = 0;
  return std::to_string(num_calls++) + ' ';
}

Finding determinism(std::string (*report)(const Inputs&, const std::string&), int num_others) {
  DeterminismStudy study;
  study.inputs = small_quickstart();
  study.num_others = num_others;
  study.report = report;
  return study_determinism(study);
}

TEST(DeterminismStudyTest, ResultsDoNotDependOnWhatRanBefore) {
  const Finding finding = determinism(report_hash, 24);
  EXPECT_EQ(finding.num_misses, 0) << finding.text;
}

TEST(DeterminismStudyTest, AHiddenStateIsAMiss) {
  EXPECT_EQ(determinism(constant_report, 3).num_misses, 0);
  const Finding finding = determinism(counting_report, 3);
  EXPECT_GE(finding.num_misses, 1);
  EXPECT_THAT(finding.text, HasSubstr(kMiss));
}

TEST(ValidationDocumentTest, SectionsHaveTheirNames) {
  std::vector<std::string> names;
  for (const Section& section : all_sections(1)) {
    names.push_back(section.name);
  }
  EXPECT_EQ(names, section_names());
}

// The sections that take no more than a second, as docs/validation.md has them.
TEST(ValidationDocumentTest, IsCurrent) {
  const std::string document = read_file("docs/validation.md");
  for (const Section& section : all_sections(1)) {
    if (section.name == "recurrence" || section.name == "closed_forms" ||
        section.name == "table2" || section.name == "crosscheck") {
      const std::string text = run(section).text;
      EXPECT_NE(document.find(text), std::string::npos) << "run moesim validate; it now writes\n"
                                                        << text;
    }
  }
}

}  // namespace
}  // namespace moesim::validation
