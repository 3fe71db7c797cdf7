#include "tests/tidy/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <fmt/core.h>

namespace moesim::tidy {
namespace {

// A string that only files below `allowed` may contain; nothing allows it where that is empty.
struct Banned {
  std::string_view text;
  std::string_view why;
  std::vector<std::string_view> allowed;
};

// Each text is spelt in two pieces, for this file is checked too.
const std::vector<Banned>& banned() {
  static const std::vector<Banned> strings = {
      {"TO"
       "DO",
       "finish it or file an issue",
       {}},
      {"FIX"
       "ME",
       "fix it or file an issue",
       {}},
      {"XX"
       "X",
       "say what is meant",
       {}},
      {"../sha"
       "red",
       "the project stands alone",
       {}},
      {"/wo"
       "rk/",
       "no path of one machine",
       {}},
      {"using namespace "
       "std;",
       "name what is used",
       {}},
      {"std::"
       "rand(",
       "use Random: seeded, the same everywhere",
       {}},
      {"std::random_"
       "device",
       "use Random: seeded, the same everywhere",
       {}},
      {"std::uniform_"
       "int",
       "use Random: libraries differ",
       {}},
      {"std::uniform_"
       "real",
       "use Random: libraries differ",
       {}},
      {"std::"
       "shuffle",
       "use Random::shuffle: libraries differ",
       {}},
      {"fo"
       "pen(",
       "files are opened by sim/io",
       {"sim/io", "tests"}},
      {"std::if"
       "stream",
       "files are opened by sim/io",
       {"sim/io", "tests"}},
      {"std::of"
       "stream",
       "files are opened by sim/io",
       {"sim/io", "tests"}},
      {"get"
       "env(",
       "no environment below cli",
       {"sim/cli", "kernels", "calibration", "tests"}},
      {"_clock::"
       "now",
       "no clock below cli",
       {"sim/cli", "kernels", "calibration", "tests"}},
  };
  return strings;
}

bool is_allowed(const SourceFile& file, const Banned& banned) {
  return std::any_of(banned.allowed.begin(),
                     banned.allowed.end(),
                     [&file](std::string_view folder) { return file.is_under(folder); });
}

// Continuation bytes of UTF-8 take no column.
std::size_t num_characters(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
  }));
}

bool is_name_character(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 ||
         std::string_view("_./-").find(character) != std::string_view::npos;
}

bool names(const SourceFile& cmake, std::string_view name) {
  for (const std::string& line : cmake.lines) {
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool starts = at == 0 || !is_name_character(line[at - 1]);
      if (starts && (end == line.size() || !is_name_character(line[end]))) {
        return true;
      }
    }
  }
  return false;
}

std::string_view parent(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

Findings long_lines(const SourceFile& file) {
  Findings findings;
  if (file.has_suffix(".md") || file.has_suffix(".txtpb")) {
    return findings;
  }
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::size_t length = num_characters(file.lines[i]);
    if (length > kMaxLineLength) {
      findings.push_back(finding(file, i, fmt::format("{} characters long", length)));
    }
  }
  return findings;
}

Findings long_file(const SourceFile& file) {
  const bool limited =
      file.is_under("sim") || file.is_under("kernels") || file.is_under("calibration");
  if (!limited || !file.is_code() || file.lines.size() <= kMaxFileLines) {
    return {};
  }
  return {finding(file, file.lines.size() - 1, "the file is too long: split it")};
}

Findings bad_whitespace(const SourceFile& file) {
  Findings findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.find('\t') != std::string::npos) {
      findings.push_back(finding(file, i, "a tab"));
    }
    if (line.ends_with(' ') || line.ends_with('\r')) {
      findings.push_back(finding(file, i, "trailing whitespace"));
    }
  }
  return findings;
}

Findings banned_strings(const SourceFile& file) {
  Findings findings;
  for (const Banned& string : banned()) {
    if (is_allowed(file, string)) {
      continue;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (file.lines[i].find(string.text) != std::string::npos) {
        findings.push_back(finding(file, i, fmt::format("'{}': {}", string.text, string.why)));
      }
    }
  }
  return findings;
}

Findings missing_pragma_once(const SourceFile& file) {
  const auto& lines = file.lines;
  if (!file.is_header() || std::find(lines.begin(), lines.end(), "#pragma once") != lines.end()) {
    return {};
  }
  return {finding(file, 0, "no #pragma once")};
}

Findings files_missing_from_cmake(const std::vector<SourceFile>& files) {
  std::map<std::string, const SourceFile*, std::less<>> cmake_of_folder;
  for (const SourceFile& file : files) {
    if (file.has_suffix("CMakeLists.txt")) {
      cmake_of_folder[std::string(parent(file.path))] = &file;
    }
  }
  Findings findings;
  for (const SourceFile& file : files) {
    if (!file.is_code()) {
      continue;
    }
    std::string_view folder = parent(file.path);
    while (!folder.empty() && !cmake_of_folder.contains(folder)) {
      folder = parent(folder);
    }
    const auto cmake = cmake_of_folder.find(folder);
    const std::string_view name = std::string_view(file.path).substr(folder.size() + 1);
    if (cmake == cmake_of_folder.end() || !names(*cmake->second, name)) {
      findings.push_back(finding(file, 0, "no CMakeLists.txt names it"));
    }
  }
  return findings;
}

}  // namespace moesim::tidy
