// Small texts: durations of the progress line, JUnit, verdicts.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/cli/junit.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"

namespace moesim {
namespace {

using testing::HasSubstr;

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

class VerdictTest : public testing::Test {
 protected:
  VerdictTest() {
    program_.name = "p";
    program_.num_ranks = 2;
    program_.tasks.resize(2);
    program_.tasks[0].name = "first";
    program_.tasks[1].name = "second";
    wrong_.problems = {{ProblemKind::kRace, {0, 1}, "first and second"}};
    wrong_.warnings = {"careful"};
  }

  Program program_;
  Verdict wrong_;
};

TEST_F(VerdictTest, JsonHasTheContractsKeys) {
  EXPECT_EQ(nlohmann::json::parse(to_json(wrong_, program_)),
            nlohmann::json::parse(R"({"ok": false, "warnings": ["careful"],
              "problems": [{"kind": "race", "tasks": ["first", "second"],
                            "message": "first and second"}]})"));
  EXPECT_EQ(nlohmann::json::parse(to_json(Verdict(), program_)),
            nlohmann::json::parse(R"({"ok": true, "warnings": [], "problems": []})"));
}

TEST_F(VerdictTest, TextEndsInASummary) {
  EXPECT_EQ(to_text(wrong_, program_),
            "race: first and second\n"
            "warning: careful\n"
            "p: 2 tasks on 2 ranks, 1 problem, 1 warning: NOT sound\n");
  EXPECT_THAT(to_text(Verdict(), program_), HasSubstr("0 problems, 0 warnings"));
}

}  // namespace
}  // namespace moesim
