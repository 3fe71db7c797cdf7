#include "sim/schedule/region_model.h"

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/schedule/closed_form.h"

namespace moesim {
namespace {

RegionTimes equal_chunks(int r, const ChunkTimes& t) {
  const auto count = static_cast<size_t>(r);
  RegionTimes times;
  times.dispatch.assign(count, t.a);
  times.gather.assign(count, t.g);
  times.expert.assign(count, t.e);
  times.scatter.assign(count, t.s);
  times.combine.assign(count, t.a);
  return times;
}

double draw(Random& random) {
  return static_cast<double>(random.uniform_int(0, 40));
}

TEST(RegionModelTest, EqualsFsmoesCasesWhenGatherEqualsScatter) {
  constexpr uint64_t kSeed = 20260101;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 2000; ++trial) {
    const int r = static_cast<int>(random.uniform_int(1, 8));
    ChunkTimes t{draw(random), draw(random), 0, draw(random), draw(random)};
    t.s = t.g;
    ASSERT_EQ(region_seconds(equal_chunks(r, t), t.gar, true), fsmoe_bound(r, t)) << trial;
    t.s = draw(random);
    ASSERT_GE(region_seconds(equal_chunks(r, t), t.gar, true), fsmoe_bound(r, t)) << trial;
  }
}

TEST(RegionModelTest, OneCommunicationAtATimeEqualsPipeMoe) {
  constexpr uint64_t kSeed = 20260102;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 2000; ++trial) {
    const int r = static_cast<int>(random.uniform_int(2, 8));
    const ChunkTimes t{draw(random), 0, 0, draw(random), 0};
    ASSERT_EQ(region_seconds(equal_chunks(r, t), 0, false), pipemoe_time(r, t)) << trial;
  }
}

TEST(RegionModelTest, OneCommunicationAtATimeEqualsItsClosedForm) {
  constexpr uint64_t kSeed = 20260106;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 2000; ++trial) {
    const int r = static_cast<int>(random.uniform_int(1, 8));
    ChunkTimes t{draw(random), draw(random), draw(random), draw(random), draw(random)};
    ASSERT_EQ(region_seconds(equal_chunks(r, t), t.gar, false), one_communication_time(r, t))
        << trial;
    t.gar = 0;
    ASSERT_GE(one_communication_time(r, t), pipemoe_time(r, t)) << trial;
    t.s = t.g;
    ASSERT_EQ(one_communication_time(r, t), pipemoe_time(r, t)) << trial;
  }
}

TEST(RegionModelTest, ASliceIsHiddenUpToTheSlackThenAddsItsTime) {
  // r = 2, a = 10, g = s = 1, e = 30: alone 82, AlltoAlls 40, so 42 are hidden.
  const RegionLine line = region_line(equal_chunks(2, {.a = 10, .g = 1, .s = 1, .e = 30}), true);
  EXPECT_DOUBLE_EQ(line.alone, 82);
  EXPECT_DOUBLE_EQ(line.hidden(), 42);
  EXPECT_DOUBLE_EQ(line.seconds(42), 82);
  EXPECT_DOUBLE_EQ(line.seconds(50), 90);
}

TEST(RegionModelTest, RowsWithinATimePayTheStartupFirst) {
  const ReductionTime reduction{.startup = 1.0, .per_row = 0.5};
  EXPECT_EQ(reduction.rows_within(0.9), 0);
  EXPECT_EQ(reduction.rows_within(3.2), 4);  // (3.2 - 1) / 0.5 = 4.4
  EXPECT_DOUBLE_EQ(reduction.of(4), 3.0);
  EXPECT_DOUBLE_EQ(reduction.of(0), 0.0);
}

}  // namespace
}  // namespace moesim
