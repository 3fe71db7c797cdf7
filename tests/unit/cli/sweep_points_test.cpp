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
            "forward_degree,backward_degree,error,peak_memory_bytes,fits,non_moe_degree,variant\n");
}

SweepRow row(const std::string& schedule, std::int64_t picoseconds, int forward, int backward) {
  SweepRow row;
  row.schedule = schedule;
  row.prediction.iteration = Time::from_picoseconds(picoseconds);
  row.prediction.forward_degree = forward;
  row.prediction.backward_degree = backward;
  return row;
}

SweepRow error(const std::string& schedule, const std::string& text) {
  return {.schedule = schedule, .prediction = {}, .error = text};
}

constexpr std::int64_t kSecond = 1'000'000'000'000;

TEST(SweepPointsTest, SpeedupIsTheBaselinesTimeOverTheRows) {
  const std::vector<SweepRow> rows = {
      row("tutel", kSecond / 2, 2, 2), row("fsmoe", kSecond / 4, 4, 1), error("parm", "no,\nway")};
  EXPECT_EQ(csv_lines({"512", "a,b"}, rows, "tutel"),
            "512,\"a,b\",tutel,0.5,1,2,2,,0,true,,\n"
            "512,\"a,b\",fsmoe,0.25,2,4,1,,0,true,,\n"
            "512,\"a,b\",parm,,,,,\"no, way\",,,,\n");
}

TEST(SweepPointsTest, WithoutTheBaselinesTimeThereIsNoSpeedup) {
  const std::vector<SweepRow> rows = {error("tutel", "say \"no\""),
                                      row("fsmoe", kSecond / 4, 4, 1)};
  EXPECT_EQ(csv_lines({}, rows, "tutel"),
            "tutel,,,,,\"say \"\"no\"\"\",,,,\n"
            "fsmoe,0.25,,4,1,,0,true,,\n");
}

TEST(SweepPointsTest, MemorySecondDegreeAndVariantComeLast) {
  SweepRow large = row("sp_moe", kSecond, 4, 4);
  large.prediction.peak_memory_bytes = 123'456'789;
  large.prediction.fits = false;
  large.prediction.non_moe_degree = 2;
  SweepRow parm = row("parm", kSecond, 1, 1);
  parm.prediction.variant = "parm_s1";
  EXPECT_EQ(csv_lines({}, {large, parm}, "sp_moe"),
            "sp_moe,1,1,4,4,,123456789,false,2,\n"
            "parm,1,1,1,1,,0,true,,parm_s1\n");
}

TEST(SweepPointsTest, TimesKeepTheirPicoseconds) {
  EXPECT_THAT(csv_lines({}, {row("tutel", 1'234'567'890'123, 1, 1)}, "tutel"),
              HasSubstr("1.234567890123,1,"));
}

TEST(SweepPointsTest, IterationsOfNoTimeHaveNoSpeedup) {
  EXPECT_EQ(csv_lines({}, {row("tutel", 0, 1, 1)}, "tutel"), "tutel,0,,1,1,,0,true,,\n");
}

}  // namespace
}  // namespace moesim
