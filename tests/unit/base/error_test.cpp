#include "sim/base/error.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(ErrorTest, PutsTheLocationFirst) {
  const Error error("a.txtpb:2:7", "no field 'latency_us'; write 'latency'");
  EXPECT_STREQ(error.what(), "a.txtpb:2:7: no field 'latency_us'; write 'latency'");
  EXPECT_EQ(error.location(), "a.txtpb:2:7");
  EXPECT_EQ(error.text(), "no field 'latency_us'; write 'latency'");
}

// A terminal obeys what a file's name or content may hold.
TEST(ErrorTest, ShowsControlCharacters) {
  const Error error("\x1b[2J.txtpb", "no field \"\x07\"; remove it");
  EXPECT_STREQ(error.what(), "\\x1b[2J.txtpb: no field \"\\x07\"; remove it");
}

// A list of problems has lines; where it stands has one.
TEST(ErrorTest, KeepsItsLocationOnOneLine) {
  const Error error("a\nb.txtpb", "two things:\n  one\n  two");
  EXPECT_STREQ(error.what(), "a\\nb.txtpb: two things:\n  one\n  two");
}

TEST(ErrorTest, NeedsNoLocation) {
  const Error error("no schedule 'x'; one of: fsmoe, tutel");
  EXPECT_STREQ(error.what(), "no schedule 'x'; one of: fsmoe, tutel");
  EXPECT_TRUE(error.location().empty());
}

}  // namespace
}  // namespace moesim
