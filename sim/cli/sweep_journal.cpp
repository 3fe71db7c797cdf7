#include "sim/cli/sweep_journal.h"

#include <charconv>
#include <string_view>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"

namespace moesim {
namespace {

// A record on one line.
std::string escaped(std::string_view record) {
  std::string line;
  for (const char character : record) {
    if (character == '\n') {
      line += "\\n";
    } else if (character == '\\') {
      line += "\\\\";
    } else {
      line += character;
    }
  }
  return line;
}

std::string unescaped(std::string_view line) {
  std::string record;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      record += line[i] == 'n' ? '\n' : line[i];
    } else {
      record += line[i];
    }
  }
  return record;
}

std::string line_of(int point, std::string_view record) {
  const std::string body = fmt::format("{} {}", point, escaped(record));
  return fmt::format("{} {}\n", content_hash(body), body);
}

}  // namespace

SweepJournal::SweepJournal(const std::string& path, const JournalKey& key)
    : path_(path), num_points_(key.num_points), file_(path) {
  const std::string header = fmt::format("moesim {} sweep journal 2, {} points, inputs {}\n",
                                         key.version,
                                         key.num_points,
                                         key.inputs_hash);
  const std::string text = file_.read();
  if (text.find('\n') == std::string::npos) {  // empty, or torn within its first line
    file_.truncate(0);
    file_.append(header);
    return;
  }
  if (!text.starts_with(header)) {
    throw Error(path_,
                "it belongs to other inputs or another version of moesim; delete it to start the "
                "sweep afresh");
  }
  read_lines(text, header.size());
}

void SweepJournal::read_lines(const std::string& text, std::size_t begin) {
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      file_.truncate(begin);
      return;
    }
    read_line(text.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
}

void SweepJournal::read_line(const std::string& line) {
  const std::size_t hash_end = line.find(' ');
  const std::size_t point_end = line.find(' ', hash_end + 1);
  int point = -1;
  if (point_end != std::string::npos) {
    std::from_chars(line.data() + hash_end + 1, line.data() + point_end, point);
    const std::string record =
        unescaped(std::string_view(line).substr(point_end + 1, line.size() - point_end - 2));
    if (point >= 0 && point < num_points_ && line == line_of(point, record)) {
      records_[point] = record;
      return;
    }
  }
  throw Error(path_, "a line of it is damaged; delete it to start the sweep afresh");
}

void SweepJournal::add(int point, const std::string& record) {
  file_.append(line_of(point, record));
  records_[point] = record;
}

}  // namespace moesim
