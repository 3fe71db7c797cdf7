// Style that matters, held by a test over the whole repository rather than by memory.
// Runs in the repository root. Each rule is shown to bite in rules_test.cpp.
#include <gmock/gmock.h>

#include "tests/tidy/device_code.h"
#include "tests/tidy/functions.h"
#include "tests/tidy/includes.h"
#include "tests/tidy/source_tree.h"
#include "tests/tidy/text.h"

namespace moesim::tidy {
namespace {

using testing::IsEmpty;

class TidyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { files_ = read_source_tree("."); }

  static void expect_each(Findings (*rule)(const SourceFile&)) {
    ASSERT_FALSE(files_.empty()) << "run it in the repository root";
    for (const SourceFile& file : files_) {
      EXPECT_THAT(rule(file), IsEmpty());
    }
  }

  static std::vector<SourceFile> files_;
};

std::vector<SourceFile> TidyTest::files_;

TEST_F(TidyTest, LinesFit) {
  expect_each(long_lines);
}

TEST_F(TidyTest, FilesAreShort) {
  expect_each(long_file);
}

TEST_F(TidyTest, FunctionsAreShort) {
  expect_each(long_functions);
}

TEST_F(TidyTest, WhitespaceIsClean) {
  expect_each(bad_whitespace);
}

TEST_F(TidyTest, NoBannedStrings) {
  expect_each(banned_strings);
}

TEST_F(TidyTest, HeadersAreIncludedOnce) {
  expect_each(missing_pragma_once);
}

TEST_F(TidyTest, IncludesGoOneWay) {
  expect_each(wrong_direction);
}

TEST_F(TidyTest, LibrariesStayInTheirPlace) {
  expect_each(library_out_of_place);
}

TEST_F(TidyTest, CoreIsDeviceCode) {
  expect_each(no_device_code);
}

TEST_F(TidyTest, SimgridStaysSmall) {
  EXPECT_THAT(too_many_simgrid_units(files_), IsEmpty());
}

TEST_F(TidyTest, CmakeNamesEveryFile) {
  EXPECT_THAT(files_missing_from_cmake(files_), IsEmpty());
}

}  // namespace
}  // namespace moesim::tidy
