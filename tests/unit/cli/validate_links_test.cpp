// The section `links` on the stored figures, and that each of its bars fails when it is set to what
// nothing meets.
#include <gmock/gmock.h>

#include "sim/cli/validate/sections.h"

namespace moesim::validation {
namespace {

using testing::HasSubstr;

int misses(const LinksStudy& study) {
  return study_links(study).num_misses;
}

TEST(LinksStudyTest, EveryBarIsJudged) {
  const LinksStudy generous{
      .h100_median = 9, .h100_worst = 9, .polaris_median = 9, .size_median = 9};
  EXPECT_EQ(misses(generous), 0);
  LinksStudy study = generous;
  study.h100_median = 0;
  EXPECT_EQ(misses(study), 1);
  study = generous;
  study.h100_worst = 0;
  EXPECT_EQ(misses(study), 1);
  study = generous;
  study.polaris_median = 0;
  EXPECT_EQ(misses(study), 1);
  study = generous;
  study.size_median = 0;
  EXPECT_GT(misses(study), 10);  // one for each log
}

// 2 * 39/40 of 16 GiB over 4 NICs of 48.8 GB/s is 171.6 ms; measured were 170.8.
TEST(LinksStudyTest, SaysWhatWasPredictedAndWhatWasMeasured) {
  const Finding finding = study_links({});
  EXPECT_THAT(finding.text, HasSubstr("10 nodes × 4 H100 from 1 × 8 and 10 × 1"));
  EXPECT_THAT(finding.text, HasSubstr("| ALL_REDUCE | 17179869184 | 170845.5 | 17"));
  EXPECT_THAT(finding.text, HasSubstr("xxrjun/nccl-tests-cluster"));
}

}  // namespace
}  // namespace moesim::validation
