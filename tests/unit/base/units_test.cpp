#include "sim/base/units.h"

#include <array>
#include <functional>

#include <gmock/gmock.h>

namespace moesim {
namespace {

using testing::HasSubstr;

// The text of the UnitError that `parse` throws; empty where it throws none.
std::string error_of(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const UnitError& error) {
    return error.text();
  }
  return {};
}

std::string time_error(std::string_view text) {
  return error_of([text] { parse_time(text); });
}

TEST(UnitsTest, ReadsTime) {
  EXPECT_EQ(parse_time("5 ps").picoseconds(), 5);
  EXPECT_EQ(parse_time("7 ns").picoseconds(), 7'000);
  EXPECT_EQ(parse_time("1.5 us").picoseconds(), 1'500'000);
  EXPECT_EQ(parse_time("2 ms").picoseconds(), 2'000'000'000);
  EXPECT_EQ(parse_time("3 s").picoseconds(), 3'000'000'000'000);
  EXPECT_EQ(parse_time("0 s"), Time::zero());
  EXPECT_EQ(parse_time("1e-3 s"), parse_time("1 ms"));
}

TEST(UnitsTest, SpacesAreOptional) {
  EXPECT_EQ(parse_time("1.5us"), parse_time(" 1.5  us "));
}

// 1 KiB = 1024 B; 1 KB = 1000 B; 1.5 GB is whole, 1.5 B is not.
TEST(UnitsTest, ReadsBytes) {
  EXPECT_EQ(parse_bytes("512 B"), 512);
  EXPECT_EQ(parse_bytes("4 KB"), 4'000);
  EXPECT_EQ(parse_bytes("4 KiB"), 4'096);
  EXPECT_EQ(parse_bytes("64 MiB"), 67'108'864);
  EXPECT_EQ(parse_bytes("1.5 GB"), 1'500'000'000);
  EXPECT_EQ(parse_bytes("48 GiB"), std::int64_t{48} << 30);
  EXPECT_THAT(error_of([] { parse_bytes("1.5 B"); }), HasSubstr("not a whole number of bytes"));
}

// Bits are eighths of a byte: 200 Gb/s = 25 GB/s.
TEST(UnitsTest, ReadsRates) {
  EXPECT_EQ(parse_rate("200 Gb/s"), 25e9);
  EXPECT_EQ(parse_rate("25 GB/s"), 25e9);
  EXPECT_EQ(parse_rate("3 Mb/s"), 375e3);
  EXPECT_EQ(parse_rate("1.2 TB/s"), 1.2e12);
  EXPECT_EQ(parse_rate("10 GiB/s"), 10 * 0x1p30);
}

// 0.306 ns per 1000 B = 3.06e-13 s per byte.
TEST(UnitsTest, ReadsSlopes) {
  EXPECT_DOUBLE_EQ(parse_time_per_byte("0.306 ns/KB"), 3.06e-13);
  EXPECT_DOUBLE_EQ(parse_time_per_byte("1 us/MiB"), 1e-6 / 0x1p20);
  EXPECT_DOUBLE_EQ(parse_time_per_flop("1.1e-11 ms/FLOP"), 1.1e-14);
  EXPECT_DOUBLE_EQ(parse_time_per_flop("45.9 ns/MFLOP"), 4.59e-14);
}

TEST(UnitsTest, SaysWhatIsWrongAndWhatToWrite) {
  EXPECT_EQ(time_error("5 parsecs"),
            "\"5 parsecs\": unknown unit \"parsecs\"; write a time such as \"1.5 us\"");
  EXPECT_EQ(time_error("1.5"), "\"1.5\": the unit is missing; write a time such as \"1.5 us\"");
  EXPECT_THAT(error_of([] { parse_rate("25 GB"); }), HasSubstr("\"200 Gb/s\" (bits)"));
}

TEST(UnitsTest, RejectsWhatIsNoQuantity) {
  EXPECT_THAT(time_error(""), HasSubstr("does not start with a number"));
  EXPECT_THAT(time_error("us"), HasSubstr("does not start with a number"));
  EXPECT_THAT(time_error("nan s"), HasSubstr("not finite"));
  EXPECT_THAT(time_error("inf s"), HasSubstr("not finite"));
  EXPECT_THAT(time_error("1e999 s"), HasSubstr("not finite"));
  EXPECT_THAT(time_error("-1 s"), HasSubstr("must not be negative"));
  EXPECT_THAT(time_error("1 ms later"), HasSubstr("unknown unit \"ms later\""));
  EXPECT_THAT(time_error("1 2 ms"), HasSubstr("unknown unit"));
  EXPECT_THAT(time_error("1e9 s"), HasSubstr("more than an hour"));
}

TEST(UnitsTest, EachParserTakesItsOwnUnitsOnly) {
  EXPECT_NE(error_of([] { parse_bytes("8 Mb"); }), "");  // Bits are for rates.
  EXPECT_NE(error_of([] { parse_bytes("8 GB/s"); }), "");
  EXPECT_NE(error_of([] { parse_rate("8 GB"); }), "");
  EXPECT_NE(error_of([] { parse_rate("8 /s"); }), "");
  EXPECT_NE(error_of([] { parse_rate("8 GFLOP/s"); }), "");
  EXPECT_NE(error_of([] { parse_time_per_byte("1 ns"); }), "");
  EXPECT_NE(error_of([] { parse_time_per_byte("1 ns/FLOP"); }), "");
  EXPECT_NE(error_of([] { parse_time_per_flop("1 ns/B"); }), "");
  EXPECT_NE(error_of([] { parse_time_per_flop("1 /FLOP"); }), "");
}

TEST(UnitsTest, RatesMustBePositive) {
  EXPECT_THAT(error_of([] { parse_rate("0 GB/s"); }), HasSubstr("more than zero"));
  EXPECT_EQ(parse_time_per_byte("0 ns/B"), 0);
}

TEST(UnitsTest, RejectsAbsurdValues) {
  EXPECT_THAT(error_of([] { parse_bytes("1e30 B"); }), HasSubstr("more than 1000 TB"));
  EXPECT_THAT(error_of([] { parse_rate("1e30 B/s"); }), HasSubstr("more than 1e18 B/s"));
  EXPECT_THAT(error_of([] { parse_time_per_byte("2 s/B"); }), HasSubstr("more than 1 s/B"));
}

}  // namespace
}  // namespace moesim
