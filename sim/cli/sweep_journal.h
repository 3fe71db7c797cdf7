#pragma once

#include <map>
#include <string>

#include "sim/io/append_file.h"

namespace moesim {

// What a journal belongs to. A journal with another key is refused.
struct JournalKey {
  std::string version;
  std::string inputs_hash;
  int num_points = 0;
};

// The finished points of a sweep, so that one that was killed goes on where it was. One line per
// point: its index, a hash of the record, the record. A torn last line, which a kill can leave, is
// dropped; other damage throws Error.
class SweepJournal {
 public:
  SweepJournal(const std::string& path, const JournalKey& key);

  [[nodiscard]] const std::string& path() const { return path_; }
  // By point; records may hold any text.
  [[nodiscard]] const std::map<int, std::string>& records() const { return records_; }

  void add(int point, const std::string& record);

 private:
  void read_lines(const std::string& text, std::size_t begin);
  void read_line(const std::string& line);

  std::string path_;
  int num_points_;
  AppendFile file_;
  std::map<int, std::string> records_;
};

}  // namespace moesim
