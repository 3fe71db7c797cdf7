// Stored expectations: filled in, met, drifted.
#include <gmock/gmock.h>

#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class CheckTest : public testing::Test {
 protected:
  void SetUp() override {
    write_small_study(workspace_);
    workspace_.write("expected.txtpb", "scenario: \"study.txtpb\"\n");
  }

  Outcome check(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"check", "expected.txtpb"};
    words.insert(words.end(), options.begin(), options.end());
    return workspace_.run(words);
  }

  void make_network_slower() const {
    std::string profile = workspace_.read("profile.txtpb");
    profile.replace(profile.find("200 ns/KB"), 9, "201 ns/KB");
    workspace_.write("profile.txtpb", profile);
  }

  Workspace workspace_;
};

TEST_F(CheckTest, EmptyExpectationSaysHowToFillIt) {
  const Outcome outcome = check();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("moesim check --update"));
}

TEST_F(CheckTest, UpdateThenCheckAgrees) {
  EXPECT_EQ(check({"--update"}).exit_code, 0);
  EXPECT_THAT(workspace_.read("expected.txtpb"), HasSubstr("scenario: \"study.txtpb\""));
  const Outcome outcome = check({"--junit", "junit.xml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("3 predictions in 1 file, 0 drifted"));
  EXPECT_THAT(workspace_.read("junit.xml"), HasSubstr(R"(tests="3" failures="0")"));
}

// The cluster of the study and its profile each name a GPU.
TEST_F(CheckTest, CostsOfAnotherGpuAreWarnedOfAndAnAssumption) {
  workspace_.write("cluster.txtpb", workspace_.read("cluster.txtpb") + "gpu: 'H100 SXM'\n");
  workspace_.write("profile.txtpb", workspace_.read("profile.txtpb") + "gpu: 'RTX A6000'\n");
  check({"--update"});
  const std::string mismatch =
      "costs of computing in profile 'small' are of RTX A6000, the GPUs of cluster 'small' are "
      "H100 "
      "SXM";
  const Outcome outcome = check();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("  warning: " + mismatch));
  EXPECT_THAT(workspace_.run({"simulate", "study.txtpb"}).out, HasSubstr("  - " + mismatch));
  const Outcome of_topology =
      workspace_.run({"topology", "check", "cluster.txtpb", "--profile", "profile.txtpb"});
  EXPECT_EQ(of_topology.exit_code, 0);
  EXPECT_THAT(of_topology.out, HasSubstr("\nwarning: " + mismatch));
}

TEST_F(CheckTest, DriftIsNamedAndUpdateSettlesIt) {
  check({"--update"});
  make_network_slower();
  const Outcome outcome = check({"--junit", "junit.xml"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("DRIFT  deepspeed_moe"));
  EXPECT_THAT(outcome.out, HasSubstr("expected "));
  EXPECT_THAT(outcome.out, HasSubstr("moesim check --update"));
  EXPECT_THAT(workspace_.read("junit.xml"), HasSubstr("<failure message=\"expected "));
  EXPECT_EQ(check({"--update"}).exit_code, 0);
  EXPECT_EQ(check().exit_code, 0);
}

TEST_F(CheckTest, ToleranceAllowsSmallDrift) {
  check({"--update"});
  std::string expected = workspace_.read("expected.txtpb");
  const std::string exact = "relative_tolerance: 0\n";
  expected.replace(expected.find(exact), exact.size(), "relative_tolerance: 0.05\n");
  workspace_.write("expected.txtpb", expected);
  make_network_slower();  // by half a percent
  EXPECT_EQ(check().exit_code, 0);
}

// What a file expects is the user's choice; only the figures are brought up to date.
TEST_F(CheckTest, UpdateKeepsTheSchedulesOfAnExpectation) {
  workspace_.write("expected.txtpb",
                   "scenario: \"study.txtpb\"\nschedules { schedule: \"fsmoe\" "
                   "iteration_picoseconds: 1 forward_degree: 1 backward_degree: 1 }\n");
  EXPECT_EQ(check({"--update"}).exit_code, 0);
  EXPECT_THAT(check().out, HasSubstr("1 prediction in 1 file, 0 drifted"));
  EXPECT_THAT(workspace_.read("expected.txtpb"), HasSubstr("schedule: \"fsmoe\""));
}

TEST_F(CheckTest, AFileCountsOnce) {
  check({"--update"});
  EXPECT_THAT(check({"expected.txtpb", "./expected.txtpb"}).out,
              HasSubstr("3 predictions in 1 file, 0 drifted"));
  const Outcome outcome = workspace_.run({"check", ""});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("a path is empty; name an expectation file"));
}

// The second file is wrong: the first stays as it was.
TEST_F(CheckTest, UpdateWritesAllOrNothing) {
  const std::string before = workspace_.read("expected.txtpb");
  workspace_.write("second.txtpb", "scenario: \"none.txtpb\"\n");
  const Outcome outcome = check({"second.txtpb", "--update"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("second.txtpb:1:11: none.txtpb: there is no such file"));
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(workspace_.read("expected.txtpb"), before);
}

TEST_F(CheckTest, JunitOverwritesNoInput) {
  check({"--update"});
  for (const char* input : {"expected.txtpb", "study.txtpb", "cluster.txtpb", "profile.txtpb"}) {
    const std::string before = workspace_.read(input);
    const Outcome outcome = check({"--junit", input});
    EXPECT_EQ(outcome.exit_code, 2) << input;
    EXPECT_THAT(outcome.err, HasSubstr("it would overwrite an input"));
    EXPECT_EQ(workspace_.read(input), before);
  }
  EXPECT_EQ(check({"--update", "--junit", "junit.xml"}).exit_code, 2);
}

// What would be a division by zero is bad input.
TEST_F(CheckTest, NothingTakesNoTime) {
  workspace_.write("expected.txtpb",
                   "scenario: \"study.txtpb\"\nschedules { schedule: \"tutel\" "
                   "iteration_picoseconds: 0 forward_degree: 1 backward_degree: 1 }\n");
  EXPECT_EQ(check().exit_code, 2);
}

TEST_F(CheckTest, UnknownScheduleHasALine) {
  workspace_.write("expected.txtpb",
                   "scenario: \"study.txtpb\"\nschedules { schedule: \"tutle\" "
                   "iteration_picoseconds: 1 forward_degree: 1 backward_degree: 1 }\n");
  EXPECT_THAT(check().err, testing::StartsWith("expected.txtpb:2:23: no schedule \"tutle\""));
}

TEST_F(CheckTest, FolderStandsForItsFiles) {
  check({"--update"});
  const Outcome outcome = workspace_.run({"check", "."});
  EXPECT_EQ(outcome.exit_code, 2);  // the folder also holds files that are no expectations
  EXPECT_EQ(workspace_.run({"check", "no/such/folder"}).exit_code, 2);
  EXPECT_EQ(workspace_.run({"check"}).exit_code, 2);  // no scenarios/expected here
}

}  // namespace
}  // namespace moesim
