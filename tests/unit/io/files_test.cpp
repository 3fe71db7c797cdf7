#include "sim/io/files.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "sim/io/suggestion.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

using testing::StartsWith;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "files_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] long num_files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  std::string folder_;
};

TEST_F(FilesTest, WritesAndReadsBytes) {
  const std::string path = folder_ + "/a.txt";
  const std::string bytes("one\0two\r\n", 9);
  write_file_atomically(path, bytes);
  EXPECT_EQ(read_file(path), bytes);
  write_file_atomically(path, "shorter");
  EXPECT_EQ(read_file(path), "shorter");
  write_file_atomically(path, "");
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(num_files(), 1);  // no temporary file is left
}

TEST_F(FilesTest, FailuresNameThePathAndLeaveNothing) {
  EXPECT_EQ(error_of([this] { read_file(folder_ + "/none"); }),
            folder_ + "/none: cannot read: No such file or directory; check the path");
  EXPECT_EQ(error_of([this] { read_file(folder_); }), folder_ + ": is a folder; name a file in it");
  EXPECT_EQ(error_of([this] { write_file_atomically(folder_, "x"); }),
            folder_ + ": is a folder; name a file in it");
  EXPECT_THAT(error_of([this] { write_file_atomically(folder_ + "/none/a.txt", "x"); }),
              StartsWith(folder_ + "/none/a.txt: cannot write: No such file or directory; "));
  EXPECT_EQ(num_files(), 0);
}

TEST_F(FilesTest, WritesThroughSymbolicLinks) {
  write_file_atomically(folder_ + "/target", "old");
  fs::create_symlink(folder_ + "/target", folder_ + "/link");
  write_file_atomically(folder_ + "/link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link"));
  EXPECT_EQ(read_file(folder_ + "/target"), "new");
}

TEST_F(FilesTest, DevicesStayDevices) {
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(ResolvePathTest, IsRelativeToTheFile) {
  EXPECT_EQ(resolve_path("scenarios/a.txtpb", "../topologies/b.txtpb"), "topologies/b.txtpb");
  EXPECT_EQ(resolve_path("a.txtpb", "b.txtpb"), "b.txtpb");
  EXPECT_EQ(resolve_path("/x/a.txtpb", "b/./c.txtpb"), "/x/b/c.txtpb");
  EXPECT_EQ(resolve_path("x/a.txtpb", "/b.txtpb"), "/b.txtpb");
}

TEST(SuggestionTest, NamesTheNearestOrAll) {
  const std::vector<std::string> names = {"sequence", "batch", "heads"};
  EXPECT_EQ(suggestion("sequnce", names), "did you mean \"sequence\"?");
  EXPECT_EQ(suggestion("haeds", names), "did you mean \"heads\"?");
  EXPECT_EQ(suggestion("BATCH", names), "did you mean \"batch\"?");
  EXPECT_EQ(suggestion("colour", names), "use one of sequence, batch, heads");
  EXPECT_EQ(suggestion("x", {"a", "b"}), "use one of a, b");
  EXPECT_EQ(suggestion("", names), "use one of sequence, batch, heads");
  EXPECT_EQ(suggestion("x", {}), "remove it");
}

}  // namespace
}  // namespace moesim
