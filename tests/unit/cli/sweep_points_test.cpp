#include "sim/cli/sweep_points.h"

#include <gmock/gmock.h>

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Sweep two_axes() {
  Sweep sweep;
  sweep.axes = {{"model.sequence", {"512", "1024"}}, {"model.capacity_factor", {"1.2", "*", "2"}}};
  return sweep;
}

TEST(SweepPointsTest, LastAxisVariesFastest) {
  const Sweep sweep = two_axes();
  EXPECT_EQ(num_points(sweep), 6);
  EXPECT_THAT(values_at(sweep, 0), ElementsAre("512", "1.2"));
  EXPECT_THAT(values_at(sweep, 1), ElementsAre("512", "*"));
  EXPECT_THAT(values_at(sweep, 3), ElementsAre("1024", "1.2"));
  EXPECT_THAT(overrides_at(sweep, 5),
              ElementsAre("model.sequence=1024", "model.capacity_factor=2"));
}

TEST(SweepPointsTest, NoAxesAreOnePoint) {
  EXPECT_EQ(num_points({}), 1);
  EXPECT_THAT(values_at({}, 0), ElementsAre());
}

TEST(SweepPointsTest, HeaderHasAColumnPerAxis) {
  EXPECT_EQ(csv_header(two_axes()),
            "model.sequence,model.capacity_factor,schedule,iteration_seconds,speedup,"
            "forward_degree,backward_degree,error\n");
}

TEST(SweepPointsTest, SpeedupIsTheBaselinesTimeOverTheRows) {
  const std::vector<SweepRow> rows = {
      {"tutel", 0.5, 2, 2, ""}, {"fsmoe", 0.25, 4, 1, ""}, {"parm", 0, 0, 0, "no,\nway"}};
  EXPECT_EQ(csv_lines({"512", "a,b"}, rows, "tutel"),
            "512,\"a,b\",tutel,0.5,1,2,2,\n"
            "512,\"a,b\",fsmoe,0.25,2,4,1,\n"
            "512,\"a,b\",parm,,,,,\"no, way\"\n");
}

TEST(SweepPointsTest, WithoutTheBaselinesTimeThereIsNoSpeedup) {
  const std::vector<SweepRow> rows = {{"tutel", 0, 0, 0, "say \"no\""}, {"fsmoe", 0.25, 4, 1, ""}};
  EXPECT_EQ(csv_lines({}, rows, "tutel"),
            "tutel,,,,,\"say \"\"no\"\"\"\n"
            "fsmoe,0.25,,4,1,\n");
}

TEST(SweepPointsTest, TimesKeepTheirPicoseconds) {
  EXPECT_THAT(csv_lines({}, {{"tutel", 1.234567890123, 1, 1, ""}}, "tutel"),
              HasSubstr("1.234567890123,1,"));
}

TEST(SweepPointsTest, IterationsOfNoTimeHaveNoSpeedup) {
  EXPECT_EQ(csv_lines({}, {{"tutel", 0, 1, 1, ""}}, "tutel"), "tutel,0,,1,1,\n");
}

}  // namespace
}  // namespace moesim
