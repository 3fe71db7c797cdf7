// What a journal holds after a kill, and when it refuses to go on.
#include "sim/cli/sweep_journal.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class SweepJournalTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string contents() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  void set_contents(const std::string& text) const { std::ofstream(path_) << text; }

  void write_two_points() const {
    SweepJournal journal(path_, key_);
    journal.add(2, "a,b\nc,d\n");
    journal.add(0, "back\\slash\\n");
  }

  std::string refusal(const JournalKey& key) const {
    try {
      SweepJournal journal(path_, key);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::string path_ = testing::TempDir() + "sweep_journal_test." +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
  const JournalKey key_{"1.0", "00ff", 3};
};

TEST_F(SweepJournalTest, StartsEmpty) {
  EXPECT_THAT(SweepJournal(path_, key_).records(), IsEmpty());
}

TEST_F(SweepJournalTest, RecordsComeBack) {
  write_two_points();
  EXPECT_THAT(SweepJournal(path_, key_).records(),
              ElementsAre(Pair(0, "back\\slash\\n"), Pair(2, "a,b\nc,d\n")));
}

TEST_F(SweepJournalTest, TornLastLineIsDroppedAndWrittenAnew) {
  write_two_points();
  const std::string whole = contents();
  const std::size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t size = last_line; size < whole.size(); ++size) {
    set_contents(whole.substr(0, size));
    SweepJournal journal(path_, key_);
    EXPECT_THAT(journal.records(), ElementsAre(Pair(2, "a,b\nc,d\n"))) << size << " bytes";
    journal.add(0, "back\\slash\\n");
    EXPECT_EQ(contents(), whole);
  }
}

TEST_F(SweepJournalTest, TornFirstLineStartsAfresh) {
  write_two_points();
  set_contents(contents().substr(0, 5));
  EXPECT_THAT(SweepJournal(path_, key_).records(), IsEmpty());
  EXPECT_THAT(SweepJournal(path_, key_).records(), IsEmpty());
}

TEST_F(SweepJournalTest, DamageElsewhereIsRefused) {
  write_two_points();
  std::string text = contents();
  text[text.find("a,b")] = 'A';
  set_contents(text);
  EXPECT_THAT(refusal(key_), HasSubstr("damaged; delete it"));
}

TEST_F(SweepJournalTest, OtherKeysAreRefused) {
  write_two_points();
  EXPECT_EQ(refusal(key_), "accepted");
  for (const JournalKey& other :
       {JournalKey{"1.1", "00ff", 3}, JournalKey{"1.0", "00fe", 3}, JournalKey{"1.0", "00ff", 4}}) {
    EXPECT_THAT(refusal(other), HasSubstr("delete it to start the sweep afresh"));
  }
}

TEST_F(SweepJournalTest, SecondProcessIsRefused) {
  const SweepJournal journal(path_, key_);
  // A record lock does not bind its own process: ask from another one.
  EXPECT_EXIT(
      {
        const std::string answer = refusal(key_);
        std::fprintf(stderr, "%s\n", answer.c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0),
      "another process is writing it");
}

}  // namespace
}  // namespace moesim
