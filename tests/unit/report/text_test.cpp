#include "sim/report/text.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(TextTest, Percent) {
  EXPECT_EQ(format_percent(0.2914), "29.1 %");
  EXPECT_EQ(format_percent(0.2914, 0), "29 %");
  EXPECT_EQ(format_percent(1), "100.0 %");
}

TEST(TextTest, UnitsSuitTheLongestTime) {
  EXPECT_EQ(TimeUnit(125).format(12.5), "12.500 s");
  EXPECT_EQ(TimeUnit(9.1752).format(9.1752), "9175.200 ms");
  EXPECT_EQ(TimeUnit(0.4).format(0.0012), "1.200 ms");
  EXPECT_EQ(TimeUnit(2e-5).format(2e-5), "20.000 us");
  EXPECT_EQ(TimeUnit(2e-9).format(5e-10), "0.500 ns");
  EXPECT_EQ(TimeUnit(2e-12).format(2e-12), "2.000 ps");
  EXPECT_EQ(TimeUnit(0).format(0), "0.000 ms");
  EXPECT_EQ(TimeUnit(0.4).format_difference(0.001), "+1.000 ms");
  EXPECT_EQ(TimeUnit(0.4).format_difference(-0.001), "-1.000 ms");
}

TEST(TextTest, TablesAlign) {
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft}, 1);
  table.add_row({"name", "time", "why"});
  table.add_rule();
  table.add_row({"a", "12 ms", ""});
  table.add_row({"löngest", "1 ms", "x"});
  EXPECT_EQ(table.to_string(),
            " name      time  why\n"
            " -------  -----  ---\n"
            " a        12 ms\n"
            " löngest   1 ms  x\n");
}

// Names come from files, and a terminal obeys what they hold.
TEST(TextTest, TablesShowControlCharacters) {
  TextTable table({Align::kLeft, Align::kRight});
  table.add_row({std::string("a\0b", 3), "1"});
  table.add_row({"\x1b[31mred\n", "2"});
  EXPECT_EQ(table.to_string(),
            "a\\x00b         1\n"
            "\\x1b[31mred\\n  2\n");
}

}  // namespace
}  // namespace moesim
