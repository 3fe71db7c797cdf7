// The section `resolutions` of `moesim validate`: what it finds, and that it misses what is off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/sections.h"

namespace moesim::validation {
namespace {

Finding resolutions(ResolutionsStudy::Simulate simulate) {
  return in_a_worker([simulate] {
    ResolutionsStudy study;
    study.quickstart = load_inputs("scenarios/quickstart.txtpb");
    study.num_random = 20;
    study.num_numberings = 2;
    study.simulate = simulate;
    return study_resolutions(study);
  });
}

Trace flows_twice_as_late(const Program& program,
                          const Cluster* cluster,
                          const Profile* profile,
                          const SimulationOptions& options) {
  Trace trace = simulate(program, cluster, profile, options);
  if (options.resolution == Resolution::kFlows) {
    trace.end = trace.end * 2;
  }
  return trace;
}

TEST(ResolutionsStudyTest, ResultsAreAsTheyState) {
  const Finding finding = resolutions(simulate);
  EXPECT_EQ(finding.num_misses, 0) << finding.text;
  EXPECT_THAT(finding.text, testing::HasSubstr("exact"));
  EXPECT_THAT(finding.text, testing::HasSubstr("at most"));
}

TEST(ResolutionsStudyTest, LateFlowsAreMisses) {
  const Finding finding = resolutions(flows_twice_as_late);
  EXPECT_GT(finding.num_misses, 3);
  EXPECT_THAT(finding.text, testing::HasSubstr("**MISS**"));
}

}  // namespace
}  // namespace moesim::validation
