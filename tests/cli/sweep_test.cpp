// A sweep gives the same bytes whatever happens on the way.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "sim/base/hash.h"
#include "tests/cli/small_study.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    write_small_study(workspace_);
    workspace_.write("small.txtpb", R"(
      scenario: "study.txtpb"
      axes { field: "model.sequence" values: ["128", "256"] }
      axes { field: "model.embedding" values: ["128", "127", "64"] }
      schedules: ["tutel", "fsmoe"]
    )");
  }

  Outcome sweep(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"sweep", "small.txtpb"};
    words.insert(words.end(), options.begin(), options.end());
    return workspace_.run(words);
  }

  // A sweep long enough to be killed half way: the larger, the slower the machine may be.
  void write_long_sweep() const {
    std::string values;
    for (int sequence = 64; sequence < 64 + 2 * 60; sequence += 2) {
      values += (values.empty() ? "\"" : ", \"") + std::to_string(sequence) + "\"";
    }
    workspace_.write("long.txtpb",
                     "scenario: \"study.txtpb\"\n"
                     "axes { field: \"model.sequence\" values: [" +
                         values + "] }\nschedules: [\"tutel\", \"fsmoe\"]\n");
  }

  // Starts the long sweep and kills it once its journal holds some points. Returns the journal.
  std::string kill_half_way() const {
    const pid_t process =
        workspace_.start({"sweep", "long.txtpb", "--workers", "1", "--out", "long.csv"});
    constexpr int kPolls = 20'000;
    constexpr std::ptrdiff_t kPoints = 5;
    for (int i = 0; i < kPolls; ++i) {
      const std::string journal = workspace_.read("long.csv.journal");
      if (std::count(journal.begin(), journal.end(), '\n') > kPoints) {
        break;
      }
      usleep(1000);
    }
    kill(process, SIGKILL);
    EXPECT_EQ(Workspace::finish(process), 128 + SIGKILL) << "it was too fast to be killed";
    return workspace_.read("long.csv.journal");
  }

  Workspace workspace_;
};

TEST_F(SweepTest, AnErrorNamesTheAxis) {
  ASSERT_EQ(sweep().exit_code, 0);
  const std::string table = workspace_.read("small.csv");
  EXPECT_THAT(table, HasSubstr("axis model.embedding=127: "));
  EXPECT_THAT(table, Not(HasSubstr("--set")));
}

// Nothing is left beside a device that cannot take the table: the points are kept where they would
// be by default, and the same command goes on from them.
TEST_F(SweepTest, ADeviceHasNoJournalBesideIt) {
  EXPECT_EQ(sweep({"--out", "/dev/full"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists("/dev/full.journal"));
  EXPECT_THAT(workspace_.files(), testing::Contains("small.csv.journal"));
  EXPECT_EQ(sweep().exit_code, 0);
  EXPECT_THAT(workspace_.files(), Not(testing::Contains("small.csv.journal")));
}

TEST_F(SweepTest, RowsAreSortedByPointAndErrorsAreRows) {
  const Outcome outcome = sweep();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_EQ(outcome.out, "small.csv: 6 points under 2 schedules, 4 errors\n");
  const std::vector<std::string> lines = lines_of(workspace_.read("small.csv"));
  ASSERT_EQ(lines.size(), 1U + 2 * 3 * 2);
  EXPECT_EQ(lines[0],
            "model.sequence,model.embedding,schedule,iteration_seconds,speedup,forward_degree,"
            "backward_degree,error,peak_memory_bytes,fits,non_moe_degree,variant");
  EXPECT_THAT(lines[1], StartsWith("128,128,tutel,0."));
  EXPECT_THAT(lines[2], StartsWith("128,128,fsmoe,0."));
  EXPECT_THAT(lines[3], StartsWith("128,127,tutel,,,,,"));  // 4 heads do not divide 127
  EXPECT_THAT(lines[3], HasSubstr("model.embedding=127"));
  EXPECT_THAT(lines[4], StartsWith("128,127,fsmoe,,,,,"));
  EXPECT_THAT(lines[5], StartsWith("128,64,tutel,0."));
  EXPECT_THAT(lines[7], StartsWith("256,128,tutel,0."));
  EXPECT_THAT(lines[12], StartsWith("256,64,fsmoe,0."));
}

TEST_F(SweepTest, SpeedupIsOverTheBaseline) {
  sweep();
  const std::vector<std::string> lines = lines_of(workspace_.read("small.csv"));
  // The scenario's baseline is not swept: the first schedule takes its place.
  EXPECT_THAT(lines.at(1), testing::ContainsRegex("^128,128,tutel,[0-9.e-]+,1,"));
}

TEST_F(SweepTest, NumberOfWorkersChangesNothing) {
  EXPECT_EQ(sweep({"--workers", "1", "--out", "one.csv"}).exit_code, 0);
  EXPECT_EQ(sweep({"--workers", "2", "--out", "two.csv"}).exit_code, 0);
  EXPECT_EQ(workspace_.read("one.csv"), workspace_.read("two.csv"));
  EXPECT_THAT(workspace_.read("one.csv"), Not(IsEmpty()));
}

TEST_F(SweepTest, OnlyTheTableIsLeftBehind) {
  const std::vector<std::string> before = workspace_.files();
  sweep();
  std::vector<std::string> after = before;
  after.emplace_back("small.csv");
  std::sort(after.begin(), after.end());
  EXPECT_EQ(workspace_.files(), after);
}

TEST_F(SweepTest, KilledSweepGoesOnWhereItWas) {
  write_long_sweep();
  ASSERT_EQ(workspace_.run({"sweep", "long.txtpb", "--out", "whole.csv"}).exit_code, 0);
  kill_half_way();
  EXPECT_FALSE(workspace_.exists("long.csv"));

  const Outcome outcome = workspace_.run({"sweep", "long.txtpb", "--out", "long.csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(workspace_.read("long.csv"), workspace_.read("whole.csv"));
  EXPECT_FALSE(workspace_.exists("long.csv.journal"));
}

TEST_F(SweepTest, FinishedPointsAreNotRepeated) {
  write_long_sweep();
  std::string journal = kill_half_way();
  // A record of the journal (its hash, a space, the rest of the line) is given another schedule's
  // name: only a record that is used as it stands can bring that into the table.
  const std::size_t line = journal.find('\n') + 1;
  const std::size_t body = journal.find(' ', line) + 1;
  journal.replace(journal.find(",tutel,", body), 7, ",TUTEL,");
  const std::string changed = journal.substr(body, journal.find('\n', body) - body);
  journal.replace(line, body - 1 - line, content_hash(changed));
  workspace_.write("long.csv.journal", journal);
  EXPECT_EQ(workspace_.run({"sweep", "long.txtpb", "--out", "long.csv"}).exit_code, 0);
  EXPECT_THAT(workspace_.read("long.csv"), HasSubstr(",TUTEL,"));
}

TEST_F(SweepTest, TornLastLineIsDropped) {
  write_long_sweep();
  ASSERT_EQ(workspace_.run({"sweep", "long.txtpb", "--out", "whole.csv"}).exit_code, 0);
  std::string journal = kill_half_way();
  journal.resize(journal.rfind('\n', journal.size() - 2) + 9);  // into the last line's hash
  workspace_.write("long.csv.journal", journal);
  const Outcome outcome = workspace_.run({"sweep", "long.txtpb", "--out", "long.csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(workspace_.read("long.csv"), workspace_.read("whole.csv"));
}

TEST_F(SweepTest, ChangedInputsAreRefused) {
  write_long_sweep();
  kill_half_way();
  const std::string profile = workspace_.read("profile.txtpb");
  workspace_.write("profile.txtpb", profile + "# changed\n");
  const Outcome refused = workspace_.run({"sweep", "long.txtpb", "--out", "long.csv"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, StartsWith("long.csv.journal: "));
  EXPECT_THAT(refused.err, HasSubstr("delete it"));
  EXPECT_FALSE(workspace_.exists("long.csv"));

  workspace_.write("profile.txtpb", profile);
  EXPECT_EQ(workspace_.run({"sweep", "long.txtpb", "--out", "long.csv"}).exit_code, 0);
}

TEST_F(SweepTest, MistakesInTheSweepAreBadInput) {
  workspace_.write("small.txtpb", "scenario: \"study.txtpb\" axes { field: \"model.sequenc\" }");
  EXPECT_EQ(sweep().exit_code, 2);
  workspace_.write("small.txtpb", "scenario: \"study.txtpb\" schedules: [\"tutle\"]");
  const Outcome outcome = sweep();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, "small.txtpb:1:37: no schedule \"tutle\"; did you mean \"tutel\"?\n");
  EXPECT_FALSE(workspace_.exists("small.csv"));
  EXPECT_FALSE(workspace_.exists("small.csv.journal"));
}

// A value with a line end makes two lines of each of its rows.
TEST_F(SweepTest, ErrorsAreCountedByRow) {
  workspace_.write("small.txtpb", R"(
    scenario: "study.txtpb"
    axes { field: "model.name" values: ["a\nb", "c"] }
    axes { field: "model.embedding" values: ["128", "127"] }
    schedules: ["tutel", "fsmoe"]
  )");
  EXPECT_EQ(sweep().out, "small.csv: 4 points under 2 schedules, 4 errors\n");
}

TEST_F(SweepTest, MemoryAndVariantsAreColumns) {
  workspace_.write("small.txtpb", "scenario: \"study.txtpb\" schedules: [\"parm\", \"sp_moe\"]");
  sweep();
  const std::vector<std::string> lines = lines_of(workspace_.read("small.csv"));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1],
              testing::ContainsRegex("^parm,[0-9.]+,1,1,1,,[1-9][0-9]*,true,,parm_s[12]$"));
  EXPECT_THAT(lines[2], testing::ContainsRegex("^sp_moe,.*,,[1-9][0-9]*,true,1,$"));
}

// Every mistake of --out is told before the first point is run, and changes nothing.
TEST_F(SweepTest, OutputsThatCannotBe) {
  std::filesystem::create_directory(workspace_.path("folder.csv"));
  const std::vector<std::string> before = workspace_.files();
  const std::string text = workspace_.read("study.txtpb");
  const auto refused = [this](const std::string& out, const std::string& message) {
    const Outcome outcome = sweep({"--out", out});
    EXPECT_EQ(outcome.exit_code, 2) << out;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  };
  refused("folder.csv", "folder.csv: is a folder; name a file in it");
  refused("", "--out: it is empty");
  refused("study.txtpb", "study.txtpb: it would overwrite an input");
  refused("./folder.csv/../small.txtpb", "it would overwrite an input");
  EXPECT_EQ(workspace_.files(), before);
  EXPECT_EQ(workspace_.read("study.txtpb"), text);
}

TEST_F(SweepTest, UnwritableOutputIsSeenBeforeTheWork) {
  const Outcome outcome = sweep({"--out", "no/folder/small.csv"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no/folder/small.csv"));
}

}  // namespace
}  // namespace moesim
