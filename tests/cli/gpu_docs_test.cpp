// The commands of docs/gpu.md, each run where no GPU is seen: its options exist and go together,
// and what is missing in the end is the GPU, or who starts processes on other machines. Of lines
// for mpirun and srun the part after them alone.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/moesim_runner.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPage = "docs/gpu.md";

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The lines of blocks of sh; those that end in a backslash go on in the next.
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> commands;
  std::istringstream stream(page);
  bool inside = false;
  bool goes_on = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
    } else if (inside) {
      if (!goes_on) {
        commands.emplace_back();
      }
      goes_on = line.ends_with('\\');
      commands.back() += goes_on ? line.substr(0, line.size() - 1) : line;
    }
  }
  return commands;
}

// As a shell splits them, whose only quotes are single ones, up to a comment.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  const auto end_word = [&] {
    if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  };
  for (const char c : command) {
    if (c == '#' && !quoted && word.empty()) {
      break;
    }
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return words;
}

class GpuDocsTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    for (const char* folder : {"calibration", "scenarios", "topologies", "tests"}) {
      fs::create_directory_symlink(fs::absolute(folder), workspace_.path(folder));
    }
    workspace_.write("big.txtpb",
                     std::regex_replace(content_of("scenarios/gpu_check_8.txtpb"),
                                        std::regex("\\.\\./"),
                                        fs::absolute(".").string() + "/"));
    const Outcome made = workspace_.run({"program",
                                         "scenarios/crosscheck.txtpb",
                                         "--schedule",
                                         "tutel",
                                         "--degree",
                                         "2",
                                         "--out",
                                         "program.json"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  // The command that somebody starts elsewhere, with what follows it.
  void run_from(std::vector<std::string> words) {
    const auto launched = std::find_if(words.begin(), words.end(), [](const std::string& word) {
      return word == "moesim" || word == "moesim-execute" || word == "sh";
    });
    if (words.front() == "mpirun" || words.front() == "srun") {
      ASSERT_NE(launched, words.end()) << "nothing of ours is started";
      words.erase(words.begin(), launched);
    }
    const std::string program = words.front();
    words.erase(words.begin());
    if (program == "cmake") {
      return;  // builds what runs here
    }
    if (program == "moesim") {
      run_moesim(words);
    } else if (program == "moesim-execute") {
      expect_no_gpu(workspace_.run_program(MOESIM_EXECUTE_BINARY, words));
    } else if (program == "sh") {
      ASSERT_EQ(words.size(), 2U);
      run_from(words_of(words[1]));
    } else {
      run_script(program, words);
    }
  }

  // With a launcher its own command line is tried as well.
  void run_moesim(const std::vector<std::string>& words) {
    if (words.front() == "validate") {
      const Outcome outcome = workspace_.run(words);
      EXPECT_EQ(outcome.exit_code, 2);  // no file yet
      EXPECT_THAT(outcome.err, HasSubstr(words.back()));
      return;
    }
    const auto launcher = std::find(words.begin(), words.end(), "--launcher");
    if (launcher != words.end()) {
      run_from(words_of(*(launcher + 1) + " program.json --backend cuda --transport mpi"));
    }
    expect_no_gpu(workspace_.run(words));
  }

  // Scripts are not run; but they are there and know their options.
  static void run_script(const std::string& program, const std::vector<std::string>& words) {
    const std::string path = "tests/gpu/" + fs::path(program).filename().string();
    const std::string script = content_of(path);
    ASSERT_FALSE(script.empty()) << path;
    for (const std::string& word : words) {
      if (word.starts_with("--")) {
        EXPECT_THAT(script, HasSubstr(word + " "));
      }
    }
  }

  static void expect_no_gpu(const Outcome& outcome) {
    EXPECT_THAT(outcome.exit_code, AnyOf(1, 2));
    EXPECT_THAT(outcome.err,
                AnyOf(HasSubstr("no CUDA device"),
                      HasSubstr("no CUDA backend"),        // of a build without
                      HasSubstr("processes"),              // that nobody started
                      HasSubstr("built without"),          // a build without MPI
                      HasSubstr("the launcher failed")));  // there is no srun
    EXPECT_THAT(outcome.err, Not(HasSubstr("--help")));
  }

  Workspace workspace_;
};

TEST_F(GpuDocsTest, CommandsParse) {
  const std::vector<std::string> commands = commands_of(content_of(kPage));
  ASSERT_GE(commands.size(), 12U);
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    run_from(words_of(command));
  }
}

// Five seconds under eight minutes, should every part need the five that a process may take to end.
TEST_F(GpuDocsTest, BudgetsAreThoseOfTheScriptAndFit) {
  const std::string page = content_of(kPage);
  const std::string script = content_of("tests/gpu/run.sh");
  const std::regex part("\nbegin ([a-z]+) ([0-9]+) ");
  int total = 0;
  int number = 0;
  for (std::sregex_iterator at(script.begin(), script.end(), part), end; at != end; ++at) {
    const std::string row = "| " + at->str(1) + " | " + at->str(2) + " | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
    total += std::stoi(at->str(2)) + 5;
    ++number;
  }
  EXPECT_EQ(number, 6);
  EXPECT_LT(total, 480);
  EXPECT_THAT(page, HasSubstr("at most " + std::to_string(total) + " s"));
}

// A test that cannot fail is none.
TEST(GpuDocsPageTest, CommandsAreFoundAsAShellReadsThem) {
  EXPECT_THAT(commands_of("a\n```sh\nb c\nd \\\n  e\n```\nf\n```\ng\n```\n"),
              ElementsAre("b c", "d   e"));
  EXPECT_THAT(words_of("a  'b c' --d  # e"), ElementsAre("a", "b c", "--d"));
}

TEST_F(GpuDocsTest, AnOptionThatIsNoneIsSeen) {
  const Outcome outcome = workspace_.run({"execute", "big.txtpb", "--backend", "cuda", "--fast"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--help"));
}

}  // namespace
}  // namespace moesim
