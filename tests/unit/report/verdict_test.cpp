#include "sim/report/verdict.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace moesim {
namespace {

using testing::HasSubstr;

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
