#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace moesim {

// A file that grows line by line and outlives the process that writes it: a journal. What append()
// has written is there when the process is killed the moment after; a power failure may lose it.
class AppendFile {
 public:
  // Opens the file, creating it where there is none. One process at a time: throws Error while
  // another one has it open, and where it cannot be opened.
  explicit AppendFile(const std::string& path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  AppendFile(AppendFile&&) = delete;
  AppendFile& operator=(AppendFile&&) = delete;

  // All of it, from the start.
  [[nodiscard]] std::string read() const;

  void append(std::string_view text);

  // Drops everything from byte `size` on.
  void truncate(std::size_t size);

 private:
  [[noreturn]] void fail(std::string_view what) const;

  std::string path_;
  int descriptor_;
};

}  // namespace moesim
