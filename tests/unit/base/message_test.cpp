#include "sim/base/message.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(MessageTest, ControlCharactersAreVisible) {
  EXPECT_EQ(visible("plain é\nnext"), "plain é\nnext");
  EXPECT_EQ(visible(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("\x1b[31m\x7f\t"), "\\x1b[31m\\x7f\\x09");
  EXPECT_EQ(visible("\xef\xbb\xbfname"), "\\ufeffname");
}

TEST(MessageTest, NamesStayOnTheirLine) {
  EXPECT_EQ(visible_in_line("a\nb\x1b[m é"), "a\\nb\\x1b[m é");
  EXPECT_EQ(in_quotes("a\nb"), "\"a\\nb\"");
}

// Sixty characters stay as they are, also when each takes two bytes.
TEST(MessageTest, LongTextsAreCutBetweenCharacters) {
  const std::string sixty(60, 'a');
  EXPECT_EQ(abbreviated(sixty), sixty);
  EXPECT_EQ(abbreviated(sixty + "b"), sixty + "…");
  std::string greek;
  for (int i = 0; i < 60; ++i) {
    greek += "α";
  }
  EXPECT_EQ(abbreviated(greek), greek);
  EXPECT_EQ(abbreviated(greek + "β"), greek + "…");
  EXPECT_EQ(in_quotes(sixty + "b"), '"' + sixty + "…\"");
}

}  // namespace
}  // namespace moesim
