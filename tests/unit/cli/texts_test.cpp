// Small texts: durations of the progress line, JUnit.
#include <gmock/gmock.h>

#include "sim/cli/junit.h"
#include "sim/cli/progress.h"

namespace moesim {
namespace {

TEST(ProgressTest, DurationsAreRoundedUp) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(59), "59 s");
  EXPECT_EQ(duration_text(61), "2 min");
  EXPECT_EQ(duration_text(3600), "1 h 0 min");
  EXPECT_EQ(duration_text(7270), "2 h 2 min");
}

TEST(JunitTest, CountsAndEscapes) {
  EXPECT_EQ(junit_xml("check", {{"a.txtpb", "tutel", ""}, {"a.txtpb", "f\"<&>", "1 < 2\nno"}}),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1" errors="0">
  <testsuite name="check" tests="2" failures="1" errors="0">
    <testcase classname="a.txtpb" name="tutel"/>
    <testcase classname="a.txtpb" name="f&quot;&lt;&amp;&gt;">
      <failure message="1 &lt; 2&#10;no"/>
    </testcase>
  </testsuite>
</testsuites>
)");
}

}  // namespace
}  // namespace moesim
