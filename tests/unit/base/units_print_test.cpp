#include <array>

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/base/units.h"

namespace moesim {
namespace {

std::string time_text(std::int64_t picoseconds) {
  return format_time(Time::from_picoseconds(picoseconds));
}

TEST(UnitsPrintTest, TimeHasThreeDecimals) {
  EXPECT_EQ(time_text(0), "0 s");
  EXPECT_EQ(time_text(5), "5 ps");
  EXPECT_EQ(time_text(1'500), "1.500 ns");
  EXPECT_EQ(time_text(12'345'000'000), "12.345 ms");
  EXPECT_EQ(time_text(-12'345'000'000), "-12.345 ms");
  EXPECT_EQ(time_text(3'000'000'000'000), "3.000 s");
}

// 999.9994 us rounds to 999.999 us, 999.9996 us to the next unit.
TEST(UnitsPrintTest, TimeNeverShowsAThousand) {
  EXPECT_EQ(time_text(999'999'400), "999.999 us");
  EXPECT_EQ(time_text(999'999'600), "1.000 ms");
}

// 1.5e9 / 2^30 = 1.397.
TEST(UnitsPrintTest, BytesAreBinary) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(67'108'864), "64 MiB");
  EXPECT_EQ(format_bytes(1'500'000'000), "1.40 GiB");
  EXPECT_EQ(format_bytes(-1'500'000'000), "-1.40 GiB");
}

// 1023.999 MiB has no two decimals below 1024: it is 1.00 GiB.
TEST(UnitsPrintTest, BytesNeverShow1024) {
  EXPECT_EQ(format_bytes((std::int64_t{1} << 30) - 1), "1.00 GiB");
}

TEST(UnitsPrintTest, ExactTextUsesTheLargestWholeUnit) {
  EXPECT_EQ(format_time_exact(Time::zero()), "0 s");
  EXPECT_EQ(format_time_exact(Time::from_picoseconds(1'500'000'000)), "1500 us");
  EXPECT_EQ(format_time_exact(Time::from_picoseconds(1'234'567)), "1234567 ps");
  EXPECT_EQ(format_bytes_exact(67'108'864), "64 MiB");
  EXPECT_EQ(format_bytes_exact(1'500), "1500 B");
}

// An hour is 3.6e15 ps, below 2^53: every whole number of picoseconds up to it is a double.
TEST(UnitsPrintTest, ExactTextIsReadBackExactly) {
  Random random(11);
  for (int i = 0; i < 1'000; ++i) {
    const Time time = Time::from_picoseconds(random.uniform_int(0, 3'600'000'000'000'000));
    EXPECT_EQ(parse_time(format_time_exact(time)), time);
    const std::int64_t bytes = random.uniform_int(0, 1'000'000'000'000'000);
    EXPECT_EQ(parse_bytes(format_bytes_exact(bytes)), bytes);
  }
}

TEST(UnitsPrintDeathTest, ExactTextOfANegativeValue) {
  EXPECT_DEATH(format_bytes_exact(-1), "bytes >= 0");
}

TEST(UnitsPrintTest, RatesHaveFourDigits) {
  EXPECT_EQ(format_rate(112.5e9), "112.5 GB/s");
  EXPECT_EQ(format_rate(31.50769e9), "31.51 GB/s");
  EXPECT_EQ(format_rate(3.2e12), "3.2 TB/s");
  EXPECT_EQ(format_rate(999.96e9), "1 TB/s");  // not 1000 GB/s
  EXPECT_EQ(format_rate(999.9e9), "999.9 GB/s");
  EXPECT_EQ(format_rate(12.5), "12.5 B/s");
  EXPECT_EQ(format_rate(0), "0 B/s");
}

}  // namespace
}  // namespace moesim
