#include "calibration/nccl_log.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"

namespace moesim {
namespace {

using Words = std::vector<std::string_view>;

// The words of a line, between spaces and tabs.
Words words_of(std::string_view line) {
  Words words;
  constexpr std::string_view kBlanks = " \t";
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<int> whole_number(std::string_view word) {
  int value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = failure == std::errc() && end == word.data() + word.size();
  return whole ? std::optional(value) : std::nullopt;
}

// A line without what mpirun --tag-output ("[1,0]<stdout>:") or srun -l ("0: ") put before it.
std::string_view without_tag(std::string_view line) {
  if (line.starts_with('[')) {
    for (const std::string_view stream : {"]<stdout>:", "]<stderr>:"}) {
      const std::size_t at = line.find(stream);
      if (at != std::string_view::npos) {
        return line.substr(at + stream.size());
      }
    }
  }
  const std::size_t digits = line.find_first_not_of(' ');
  const std::size_t colon = line.find(": ");
  if (digits != std::string_view::npos && colon != std::string_view::npos &&
      whole_number(line.substr(digits, colon - digits))) {
    return line.substr(colon + 2);
  }
  return line;
}

// The collective of a word that ends in the name of a binary: "./build/all_reduce_perf".
const NcclCollective* binary_in(std::string_view word) {
  const std::size_t end = word.find("_perf");
  if (end == std::string_view::npos) {
    return nullptr;
  }
  const std::size_t before = word.find_last_not_of("abcdefghijklmnopqrstuvwxyz_", end);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return find_nccl_collective(word.substr(begin, end - begin));
}

// Takes a log line by line. What a test says of itself stands before its rows.
class LogReader {
 public:
  LogReader(const std::string& path, const NcclLogHints& hints) : hints_(hints) {
    log_.path = path;
  }

  NcclLog read(const std::string& text);

 private:
  // A test that has begun.
  struct Test {
    std::string collective;
    std::map<std::string, int> ranks_of_host;
    std::string gpu;
    std::string arguments;
    int first_line = 0;
  };

  void read_line(std::string_view line);
  void read_comment(const Words& words, std::string_view line);
  void read_rank(const Words& words);
  void read_setting(const Words& words);
  void read_row(const Words& words);
  void begin_test();
  void begin_run();
  [[nodiscard]] Layout layout_of_test() const;
  [[nodiscard]] Error error_here(const std::string& text) const {
    return Error(fmt::format("{}:{}", log_.path, line_), text);
  }
  [[noreturn]] void refuse() const;

  const NcclLogHints& hints_;
  NcclLog log_;
  Test test_;
  bool in_rows_ = false;                        // the test's rows have begun
  const NcclCollective* collective_ = nullptr;  // of the rows
  int line_ = 0;
  std::vector<std::string> settings_;  // of all tests from here
  int num_tests_ = 0;
  std::string first_text_;  // the first line with anything in it
  std::string failure_;     // the first line that speaks of a failure
};

NcclLog LogReader::read(const std::string& text) {
  std::string_view left = text;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size() - 1);
    std::string_view line = left.substr(0, end + 1);
    left.remove_prefix(end + 1);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    ++line_;
    read_line(without_tag(line));
  }
  std::erase_if(log_.runs, [](const NcclRun& run) { return run.rows.empty(); });
  if (log_.runs.empty()) {
    refuse();
  }
  return std::move(log_);
}

void LogReader::read_line(std::string_view line) {
  const Words words = words_of(line);
  if (words.empty()) {
    return;
  }
  if (first_text_.empty()) {
    first_text_ = line;
  }
  for (const std::string_view sign : {"failure", "failed", "rror:", " error"}) {
    if (failure_.empty() && line.find(sign) != std::string_view::npos) {
      failure_ = line;
    }
  }
  if (line.find("NCCL INFO") != std::string_view::npos || words[0].starts_with("NCCL_") ||
      words[0] == "export" || (words[0] == "NCCL" && words.size() > 2 && words[1] == "version")) {
    read_setting(words);
  } else if (looks_like_nccl_row(words)) {
    read_row(words);
  } else {
    read_comment(words, line);
  }
}

void LogReader::begin_test() {
  const bool is_fresh = !in_rows_ && test_.ranks_of_host.empty() && test_.arguments.empty();
  if (!is_fresh) {
    test_ = {};
    in_rows_ = false;
  }
}

void LogReader::read_comment(const Words& words, std::string_view line) {
  const auto has = [line](std::string_view part) { return line.find(part) != line.npos; };
  if (has("concluded")) {
    return;  // of the test before: the next one says its own name
  }
  if (has("nThread") && has("minBytes")) {
    begin_test();
    ++num_tests_;
    const std::size_t begin = line.find("nThread");
    test_.arguments = line.substr(begin, line.find_last_not_of(' ') + 1 - begin);
    return;
  }
  if (words.size() > 4 && words[0] == "#" && words[1] == "Rank") {
    read_rank(words);
    return;
  }
  if (has("nccl-tests version")) {
    const std::size_t begin = line.find("nccl-tests");
    begin_test();
    read_setting({line.substr(begin, line.find_last_not_of(' ') + 1 - begin)});
  }
  for (const std::string_view word : words) {
    if (const NcclCollective* collective = binary_in(word)) {
      begin_test();
      test_.collective = collective->name;
    }
  }
}

// "Rank 0 Group 0 Pid 38043 on HOST device 0 [0x07] NVIDIA A100", with or without the group.
void LogReader::read_rank(const Words& words) {
  const auto on = std::find(words.begin(), words.end(), "on");
  if (on == words.end() || on + 1 == words.end()) {
    return;
  }
  if (in_rows_ || (words[2] == "0" && !test_.ranks_of_host.empty())) {
    test_ = {};
    in_rows_ = false;
  }
  ++test_.ranks_of_host[std::string(on[1])];
  const auto bus =
      std::find_if(on, words.end(), [](std::string_view word) { return word.starts_with('['); });
  test_.gpu.clear();
  for (auto word = bus == words.end() ? bus : bus + 1; word != words.end(); ++word) {
    test_.gpu += (test_.gpu.empty() ? "" : " ") + std::string(*word);
  }
}

// Versions and what was set, once each.
void LogReader::read_setting(const Words& words) {
  std::string setting;
  const auto set = std::find(words.begin(), words.end(), "set");
  if (words.size() == 1 || words[0] == "NCCL") {
    for (const std::string_view word : words) {
      setting += (setting.empty() ? "" : " ") + std::string(word);
    }
  } else if (words[0] == "export") {
    setting = words[1];
  } else if (set != words.begin() && words.end() - set > 4 && set[2] == "environment") {
    setting = fmt::format("{}={}", set[-1], set[4]);  // NAME set by environment to VALUE.
    setting.erase(setting.find_last_not_of('.') + 1);
  }
  const bool tells = setting.starts_with("nccl-tests") || setting.starts_with("NCCL version") ||
                     (setting.starts_with("NCCL_") && setting.find('=') != std::string::npos);
  if (tells && std::find(settings_.begin(), settings_.end(), setting) == settings_.end()) {
    settings_.push_back(setting);
  }
}

Layout LogReader::layout_of_test() const {
  const auto& hosts = test_.ranks_of_host;
  if (hosts.empty()) {
    if (!hints_.layout) {
      throw error_here(
          "no line before this row lists the ranks (\"Rank 0 ... on HOST\"); give "
          "--layout NODESxGPUS, such as 1x8");
    }
    return *hints_.layout;
  }
  const int ranks = hosts.begin()->second;
  for (const auto& [host, count] : hosts) {
    if (count != ranks) {
      throw error_here(
          fmt::format("{} ranks on {} and {} on {}: nodes with different numbers of "
                      "ranks are no layout; run the test with as many on each",
                      ranks,
                      hosts.begin()->first,
                      count,
                      host));
    }
  }
  return {.nodes = static_cast<int>(hosts.size()), .gpus_per_node = ranks};
}

void LogReader::begin_run() {
  const std::string& name = test_.collective.empty() ? hints_.collective : test_.collective;
  collective_ = find_nccl_collective(name);
  if (collective_ == nullptr) {
    throw error_here(
        "nothing before this row says which collective it is of; give "
        "COLLECTIVE=FILE, such as all_gather=" +
        log_.path);
  }
  NcclRun run{.collective = std::string(collective_->name),
              .layout = layout_of_test(),
              .environment = settings_,
              .rows = {}};
  if (run.layout.size() < 2) {
    throw error_here("a collective of one rank moves nothing; run the test on two or more");
  }
  for (const std::string& note : {test_.arguments, test_.gpu}) {
    if (!note.empty()) {
      run.environment.push_back(visible_in_line(note));
    }
  }
  log_.runs.push_back(std::move(run));
  in_rows_ = true;
}

void LogReader::read_row(const Words& words) {
  if (!in_rows_) {
    begin_run();
  }
  NcclRun& run = log_.runs.back();
  NcclRowReading reading = read_nccl_row(words, *collective_, run.layout.size());
  if (!reading.dropped.empty()) {
    log_.dropped.push_back({.line = line_, .reason = std::move(reading.dropped)});
  }
  if (reading.row) {
    reading.row->line = line_;
    run.rows.push_back(*reading.row);
  }
}

// Says what the file is instead.
void LogReader::refuse() const {
  if (!log_.dropped.empty()) {
    const DroppedRow& last = log_.dropped.back();  // the first ones tend to be of size 0
    throw Error(
        fmt::format("{}:{}", log_.path, last.line),
        fmt::format("none of {} rows is usable; this one: {}", log_.dropped.size(), last.reason));
  }
  const std::string& told = failure_.empty() ? first_text_ : failure_;
  if (num_tests_ > 0 || !test_.ranks_of_host.empty()) {
    int ranks = 0;
    for (const auto& [host, count] : test_.ranks_of_host) {
      ranks += count;
    }
    throw Error(log_.path,
                fmt::format("an nccl-tests log of {} ranks without any row; run the test again{}",
                            ranks,
                            failure_.empty() ? "" : ": it failed with " + in_quotes(failure_)));
  }
  throw Error(log_.path,
              told.empty() ? "it is empty; give what a test of nccl-tests printed"
                           : fmt::format("no output of nccl-tests: it says {}; give what a test "
                                         "such as all_reduce_perf printed",
                                         in_quotes(told)));
}

}  // namespace

NcclLog parse_nccl_log(const std::string& path,
                       const std::string& text,
                       const NcclLogHints& hints) {
  return LogReader(path, hints).read(text);
}

}  // namespace moesim
