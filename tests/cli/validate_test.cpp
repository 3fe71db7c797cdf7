// `moesim validate` as a user runs it, in a folder with the repository's data.
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/cli/moesim_runner.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ValidateTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"calibration", "scenarios", "topologies"}) {
      fs::create_directory_symlink(fs::absolute(folder), workspace_.path(folder));
    }
  }

  Workspace workspace_;
};

TEST_F(ValidateTest, SectionIsPrintedAndNothingIsWritten) {
  const Outcome outcome = workspace_.run({"validate", "table2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("## FSMoE's Table 2\n\n`moesim validate table2`"));
  EXPECT_THAT(outcome.out, HasSubstr("`scenarios/mixtral_testbed_a.txtpb` ("));
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(workspace_.files(), ElementsAre("calibration", "scenarios", "topologies"));
}

TEST_F(ValidateTest, SectionIsWrittenWhereTheUserSays) {
  const Outcome printed = workspace_.run({"validate", "table2"});
  const Outcome written = workspace_.run({"validate", "table2", "--out", "table2.md"});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, "table2.md: 0 bars missed\n");
  EXPECT_EQ(workspace_.read("table2.md"), printed.out);
  const Outcome refused = workspace_.run({"validate", "table2", "--out", "no/folder.md"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is no folder no; make it first"));
}

TEST_F(ValidateTest, UnknownSectionListsTheSectionsThereAre) {
  const Outcome outcome = workspace_.run({"validate", "speed"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("no section 'speed'; choose one of recurrence, "));
}

TEST_F(ValidateTest, OtherFoldersLackTheScenarios) {
  const Workspace elsewhere;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"validate", "table2"}, {"validate"}}) {
    const Outcome outcome = elsewhere.run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err,
                HasSubstr("there is no folder scenarios here; run it in the repository's root"));
  }
}

TEST_F(ValidateTest, UnknownSectionsAreToldFromMissingFolders) {
  const Workspace elsewhere;
  const Outcome outcome = elsewhere.run({"validate", "foo"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no section 'foo'; choose one of recurrence, "));
}

}  // namespace
}  // namespace moesim
