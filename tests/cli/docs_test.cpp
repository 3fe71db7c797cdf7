// docs/next_cluster.md is what its commands print: they are run in a copy of docs/next_cluster, in
// the page's order, and each line that the page shows is looked for. README.md's first command
// likewise.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/moesim_runner.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "docs/next_cluster.md";
constexpr const char* kFolder = "docs/next_cluster";

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

// A fenced block's lines up to its first command, or a command with the lines shown below it.
struct Step {
  int line = 0;         // of the page
  std::string command;  // empty for the former
  std::vector<std::string> shown;
};

std::vector<Step> steps_of(const std::string& page) {
  std::vector<Step> steps;
  bool is_open = false;
  bool inside = false;
  int number = 0;
  for (const std::string& line : lines_of(page)) {
    ++number;
    if (line.starts_with("```")) {
      is_open = !is_open;
      inside = is_open && line == "```";  // a block with a language is no output
      if (inside) {
        steps.push_back({number, "", {}});
      }
    } else if (inside && line.starts_with("$ ")) {
      steps.push_back({number, line.substr(2), {}});
    } else if (inside && line != "...") {
      steps.back().shown.push_back(line);
    }
  }
  return steps;
}

// The words of a command line, whose only quotes are double ones.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// Whether a line of the output is this one, or begins as this one does before its "…".
bool has_line(const std::string& output, const std::string& shown) {
  const std::string more = "…";
  const bool is_abridged = shown.ends_with(more);
  const std::string start = is_abridged ? shown.substr(0, shown.size() - more.size()) : shown;
  const std::vector<std::string> lines = lines_of(output);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return is_abridged ? line.starts_with(start) : line == start;
  });
}

class DocsTest : public testing::Test {
 protected:
  // Without the pictures, which the page's commands make.
  void SetUp() override {
    for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
      if (entry.path().extension() != ".svg") {
        workspace_.write(entry.path().filename().string(), content_of(entry.path()));
      }
    }
  }

  void run(const Step& step) {
    SCOPED_TRACE(fmt::format("{}:{}: {}", kPage, step.line, step.command));
    std::string output = workspace_.read("today.txtpb");  // what blocks without a command show
    if (!step.command.empty()) {
      std::vector<std::string> words = words_of(step.command);
      ASSERT_EQ(words.front(), "moesim");
      words.erase(words.begin());
      const Outcome outcome = workspace_.run(words);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      output = outcome.out;
      all_output_ += output;
    }
    for (const std::string& shown : step.shown) {
      EXPECT_TRUE(has_line(output, shown)) << "the page shows\n"
                                           << shown << "\nthe output is\n"
                                           << output;
    }
  }

  Workspace workspace_;
  std::string all_output_;
};

TEST_F(DocsTest, ThePageShowsWhatItsCommandsPrint) {
  const std::string page = content_of(kPage);
  const std::vector<Step> steps = steps_of(page);
  ASSERT_GE(steps.size(), 20U);
  for (const Step& step : steps) {
    run(step);
  }
  // Times in the text, as 348.345 ms.
  const std::regex time(R"([0-9]+\.[0-9]{3} ms)");
  for (std::sregex_iterator at(page.begin(), page.end(), time), end; at != end; ++at) {
    EXPECT_NE(all_output_.find(at->str()), std::string::npos) << at->str() << " is in no output";
  }
  // Should one differ rightly: run the page's command that makes it in the folder itself.
  for (const std::string picture : {"leaves.svg", "slow_nic.svg"}) {
    EXPECT_TRUE(workspace_.read(picture) == content_of(fs::path(kFolder) / picture)) << picture;
  }
}

// What a newcomer compares first. Its schedules are some of those that are printed.
TEST(ReadmeTest, ShowsWhatItsFirstCommandPrints) {
  const std::vector<Step> steps = steps_of(content_of("README.md"));
  const auto first = std::find_if(
      steps.begin(), steps.end(), [](const Step& step) { return !step.command.empty(); });
  ASSERT_NE(first, steps.end());
  ASSERT_THAT(first->command, testing::StartsWith("build/release/moesim compare"));
  const std::string words = first->command.substr(0, first->command.find(" #"));
  std::vector<std::string> arguments = words_of(words);
  arguments.erase(arguments.begin());
  std::erase(arguments, "");
  for (std::string& argument : arguments) {
    if (fs::exists(argument)) {
      argument = fs::absolute(argument);
    }
  }
  const Outcome outcome = Workspace().run(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_GE(first->shown.size(), 3U);
  for (const std::string& shown : first->shown) {
    EXPECT_TRUE(has_line(outcome.out, shown)) << "README.md:" << first->line << " shows\n"
                                              << shown << "\nthe output is\n"
                                              << outcome.out;
  }
}

// A test that cannot fail is none.
TEST(DocsPageTest, WhatAPageShowsIsFound) {
  const std::vector<Step> steps =
      steps_of("a\n```sh\n$ b\n```\n```\nc\n$ d \"e f\"\n...\ng\n```\n");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_THAT(steps[0].shown, testing::ElementsAre("c"));
  EXPECT_THAT(words_of(steps[1].command), testing::ElementsAre("d", "e f"));
  EXPECT_THAT(steps[1].shown, testing::ElementsAre("g"));
  EXPECT_TRUE(has_line("a\nbcd\n", "bcd"));
  EXPECT_TRUE(has_line("a\nbcd\n", "bc…"));
  EXPECT_FALSE(has_line("a\nbcd\n", "bc"));
  EXPECT_FALSE(has_line("a\nbcd\n", "cd…"));
}

}  // namespace
}  // namespace moesim
