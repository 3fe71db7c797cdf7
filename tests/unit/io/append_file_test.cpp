#include "sim/io/append_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

using testing::HasSubstr;

class AppendFileTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "append_file_test." +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(AppendFileTest, GrowsAcrossOpenings) {
  {
    AppendFile file(path_);
    EXPECT_EQ(file.read(), "");
    file.append("one\n");
    EXPECT_EQ(file.read(), "one\n");  // also before it is closed
  }
  AppendFile file(path_);
  file.append("two\n");
  EXPECT_EQ(file.read(), "one\ntwo\n");
}

TEST_F(AppendFileTest, WhatIsCutOffIsWrittenOver) {
  AppendFile file(path_);
  file.append("one\ntw");
  file.truncate(4);
  file.append("2\n");
  EXPECT_EQ(file.read(), "one\n2\n");
}

TEST_F(AppendFileTest, LargeContentsComeBack) {
  const std::string large(300'000, 'x');
  AppendFile file(path_);
  file.append(large);
  EXPECT_EQ(file.read(), large);
}

TEST_F(AppendFileTest, MissingFolderIsAnError) {
  try {
    const AppendFile file(path_ + "/no/folder");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be opened for writing"));
    EXPECT_EQ(error.location(), path_ + "/no/folder");
  }
}

TEST_F(AppendFileTest, FullDiskIsAnError) {
  AppendFile file("/dev/full");
  EXPECT_THROW(file.append("text"), Error);
}

}  // namespace
}  // namespace moesim
