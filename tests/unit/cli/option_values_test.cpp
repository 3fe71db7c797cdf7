#include "sim/cli/option_values.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

std::string refusal(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(OptionValuesTest, DegreeIsAutoOneOrTwoNumbers) {
  EXPECT_FALSE(parse_degree("auto").forward.has_value());
  EXPECT_EQ(parse_degree("4").forward, 4);
  EXPECT_EQ(parse_degree("4").backward, 4);
  EXPECT_EQ(parse_degree("4,2").forward, 4);
  EXPECT_EQ(parse_degree("4,2").backward, 2);
  EXPECT_EQ(parse_degree("4,2").text, "4,2");
  EXPECT_EQ(parse_degree("1024").forward, 1024);
}

TEST(OptionValuesTest, OtherDegreesAreRefused) {
  for (const char* text :
       {"", "0", "-1", "4,", ",4", "4,2,1", "4;2", "four", "4,0", "1025", "99999999999"}) {
    EXPECT_NE(refusal([text] { parse_degree(text); }), "accepted") << text;
  }
}

TEST(OptionValuesTest, WordsAreTakenAsTheyStand) {
  EXPECT_EQ(parse_policy("search"), Policy::kSearch);
  EXPECT_EQ(parse_policy("paper"), Policy::kPaper);
  EXPECT_EQ(refusal([] { parse_policy("best"); }),
            "--policy 'best' is not understood; give search or paper");
  EXPECT_EQ(parse_resolution("auto"), Resolution::kAuto);
  EXPECT_EQ(parse_resolution("fold"), Resolution::kFold);
  EXPECT_EQ(parse_resolution("ports"), Resolution::kPorts);
  EXPECT_EQ(parse_resolution("flows"), Resolution::kFlows);
  EXPECT_NE(refusal([] { parse_resolution("Fold"); }), "accepted");
}

TEST(OptionValuesTest, LayersAreOneOrARange) {
  EXPECT_EQ(parse_layers("3").first, 3);
  EXPECT_EQ(parse_layers("3").last, 3);
  EXPECT_EQ(parse_layers("0..12").first, 0);
  EXPECT_EQ(parse_layers("0..12").last, 12);
  for (const char* text : {"", "..", "3..", "..3", "3..2", "-1..2", "a..b", "0.5"}) {
    EXPECT_NE(refusal([text] { parse_layers(text); }), "accepted") << text;
  }
}

TEST(OptionValuesTest, ClocksAreWords) {
  EXPECT_EQ(parse_clock("free"), HostClock::kFree);
  EXPECT_EQ(parse_clock("anchored"), HostClock::kAnchored);
  EXPECT_EQ(parse_clock("raw"), HostClock::kRaw);
  EXPECT_EQ(refusal([] { parse_clock("Free"); }),
            "--clock 'Free' is not understood; give free, anchored or raw");
}

TEST(OptionValuesTest, SharesAreNumbersOrPercent) {
  EXPECT_DOUBLE_EQ(parse_share("--max-error", "5%"), 0.05);
  EXPECT_DOUBLE_EQ(parse_share("--max-error", "0.05"), 0.05);
  EXPECT_DOUBLE_EQ(parse_share("--max-error", "2.5%"), 0.025);
  EXPECT_DOUBLE_EQ(parse_share("--max-error", "0%"), 0);
  EXPECT_DOUBLE_EQ(parse_share("--max-error", "150%"), 1.5);
  for (const char* text : {"", "%", "5 %", "five", "5%%", "-1%", "-0.05", "nan", "5e", "0x5"}) {
    EXPECT_EQ(refusal([text] { parse_share("--max-error", text); }).substr(0, 12), "--max-error ")
        << text;
  }
}

TEST(OptionValuesTest, Layouts) {
  EXPECT_EQ(parse_layout("10x4"), (Layout{10, 4}));
  for (const char* text : {"", "10", "x4", "10x", "0x4", "1x1", "-2x4", "10x4x2", "99999x1"}) {
    EXPECT_THROW(parse_layout(text), Error) << text;
  }
}

TEST(OptionValuesTest, LogsAndTheirCollectives) {
  EXPECT_EQ(parse_nccl_log_option("a/b.log").path, "a/b.log");
  EXPECT_EQ(parse_nccl_log_option("a/b=1.log").path, "a/b=1.log");  // no collective has a slash
  EXPECT_EQ(parse_nccl_log_option("all_gather=a/b.log").path, "a/b.log");
  EXPECT_EQ(parse_nccl_log_option("all_gather=a/b.log").collective, "all_gather");
  EXPECT_THROW(parse_nccl_log_option("gathr=b.log"), Error);
}

TEST(OptionValuesTest, OperationsOfBothNames) {
  EXPECT_EQ(parse_operation("ALL_TO_ALL"), CollectiveOperation::kAllToAll);
  EXPECT_EQ(parse_operation("alltoall"), CollectiveOperation::kAllToAll);
  EXPECT_EQ(parse_operation("sendrecv"), CollectiveOperation::kShift);
  EXPECT_THROW(parse_operation("gather"), Error);
}

TEST(OptionValuesTest, SizesDoubleOrAreListed) {
  EXPECT_EQ(parse_sizes("1KiB..5KiB"), (std::vector<std::int64_t>{1024, 2048, 4096}));
  EXPECT_EQ(parse_sizes("3KiB,1KiB"), (std::vector<std::int64_t>{3072, 1024}));
  for (const char* text : {"", "4", "0 B", "2KiB..1KiB", "1KiB..", "..1KiB", "1KiB,"}) {
    EXPECT_THROW(parse_sizes(text), Error) << text;
  }
}

}  // namespace
}  // namespace moesim
