// Help, version, and what bad usage looks like.
#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kDescriptions = 28;  // the column where they begin

constexpr auto kCommands = std::to_array<const char*>({"simulate",
                                                       "execute",
                                                       "calibrate",
                                                       "predict-collective",
                                                       "crosscheck",
                                                       "compare",
                                                       "sweep",
                                                       "verify",
                                                       "program",
                                                       "check",
                                                       "validate",
                                                       "topology"});

class HelpTest : public testing::TestWithParam<const char*> {
 protected:
  Workspace workspace_;
};

TEST_P(HelpTest, HelpGoesToStandardOutput) {
  const Outcome outcome = workspace_.run({GetParam(), "--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr(std::string("Usage: moesim ") + GetParam()));
  EXPECT_THAT(outcome.out, HasSubstr("Exit codes: 0 right answer"));
  EXPECT_THAT(outcome.out, ContainsRegex(std::string("Examples?:\n  moesim ") + GetParam()));
}

// No option without a word on what it does, behind its value or on a line of its own below.
TEST_P(HelpTest, EveryOptionIsDescribed) {
  std::istringstream lines(workspace_.run({GetParam(), "--help"}).out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  -")) {
      const std::string option = line;
      if (line.size() <= kDescriptions || line[kDescriptions - 1] != ' ') {
        std::getline(lines, line);
      }
      ASSERT_GT(line.size(), kDescriptions) << option;
      EXPECT_EQ(line[kDescriptions - 1], ' ') << option;
      EXPECT_NE(line[kDescriptions], ' ') << option;
    }
  }
}

TEST_P(HelpTest, UnknownOptionIsBadUsage) {
  const Outcome outcome = workspace_.run({GetParam(), "--no-such-option"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("--no-such-option"));
  EXPECT_THAT(outcome.err, HasSubstr(std::string("see moesim ") + GetParam() + " --help\n"));
}

INSTANTIATE_TEST_SUITE_P(Commands, HelpTest, testing::ValuesIn(kCommands), [](const auto& command) {
  std::string name = command.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(UsageTest, HelpListsTheCommands) {
  const Outcome outcome = Workspace().run({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* command : kCommands) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n  ") + command + " "));
  }
}

TEST(UsageTest, Version) {
  const Outcome outcome = Workspace().run({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, ContainsRegex("^moesim [0-9]+\\.[0-9]+\\.[0-9]+\n$"));
}

TEST(UsageTest, NoCommandIsBadUsage) {
  const Outcome outcome = Workspace().run({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("see moesim --help"));
}

TEST(UsageTest, MissingFileIsNamed) {
  const Workspace workspace;
  for (const char* command : {"simulate",
                              "execute",
                              "calibrate",
                              "crosscheck",
                              "compare",
                              "sweep",
                              "verify",
                              "program"}) {
    const Outcome outcome = workspace.run({command, "no/such.txtpb"});
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, testing::StartsWith("no/such.txtpb: ")) << command;
  }
  EXPECT_THAT(workspace.files(), IsEmpty());
}

TEST(UsageTest, UnknownFieldHasLineAndColumn) {
  const Workspace workspace;
  write_small_study(workspace);
  workspace.write("study.txtpb", "name: \"x\"\nmodell { layers: 1 }\n");
  const Outcome outcome = workspace.run({"simulate", "study.txtpb"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::StartsWith("study.txtpb:2:"));
  EXPECT_THAT(outcome.err, HasSubstr("modell"));
}

TEST(UsageTest, UnknownScheduleIsBadInput) {
  const Workspace workspace;
  write_small_study(workspace);
  const Outcome outcome = workspace.run({"simulate", "study.txtpb", "--schedule", "tutle"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean \"tutel\"?"));
}

TEST(UsageTest, BadOverrideIsBadInput) {
  const Workspace workspace;
  write_small_study(workspace);
  for (const char* override : {"model.sequenc=2", "model.sequence=-1", "model.sequence=x", "top"}) {
    const Outcome outcome = workspace.run({"simulate", "study.txtpb", "--set", override});
    EXPECT_EQ(outcome.exit_code, 2) << override;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr("--set")) << override;
  }
}

TEST(UsageTest, FullStandardOutputIsAFailedRun) {
  const Workspace workspace;
  const std::string command =
      std::string(MOESIM_BINARY) + " --help > /dev/full 2> " + workspace.path("err");
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(workspace.read("err"),
            "moesim: cannot write the result to stdout: No space left on device\n");
}

TEST(UsageTest, ClosedStandardOutputIsAFailedRun) {
  const Workspace workspace;
  const std::string command =
      std::string(MOESIM_BINARY) + " --help >&- 2> " + workspace.path("err");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_THAT(workspace.read("err"), testing::StartsWith("moesim: cannot write the result"));
}

// Nor does what stderr would have said go into the file that was opened in its place.
TEST(UsageTest, ClosedStandardErrorLeavesTheExitCode) {
  const Workspace workspace;
  write_small_study(workspace);
  workspace.write("bad.txtpb", "scenario: \"study.txtpb\"\n");
  const std::string folder = "cd " + workspace.path("") + " && " + MOESIM_BINARY;
  EXPECT_EQ(WEXITSTATUS(std::system((folder + " simulate no/such.txtpb 2>&-").c_str())), 2);
  EXPECT_EQ(WEXITSTATUS(std::system((folder + " --help > /dev/full 2>&-").c_str())), 1);
  const std::string sweep = folder + " sweep bad.txtpb --out a.csv > /dev/full 2>&-";
  EXPECT_EQ(WEXITSTATUS(std::system(sweep.c_str())), 1);
  EXPECT_THAT(workspace.read("a.csv"), testing::StartsWith("schedule,"));
}

}  // namespace
}  // namespace moesim
