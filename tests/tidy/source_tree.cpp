#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

namespace moesim::tidy {
namespace {

namespace fs = std::filesystem;

constexpr auto kFolders = std::to_array<std::string_view>(
    {".ci", "calibration", "docs", "kernels", "scenarios", "sim", "tests", "topologies"});

constexpr auto kSuffixes = std::to_array<std::string_view>(
    {".h", ".cpp", ".cu", ".cuh", ".proto", ".txtpb", ".md", ".sh", "CMakeLists.txt"});

bool is_source(const SourceFile& file) {
  const auto ends = [&file](std::string_view suffix) { return file.has_suffix(suffix); };
  return file.is_under(".ci") || std::any_of(kSuffixes.begin(), kSuffixes.end(), ends);
}

void add_if_source(const fs::path& root,
                   const fs::directory_entry& entry,
                   std::vector<SourceFile>& files) {
  SourceFile file;
  file.path = entry.path().lexically_relative(root).generic_string();
  if (!entry.is_regular_file() || !is_source(file)) {
    return;
  }
  std::ostringstream text;
  text << std::ifstream(entry.path()).rdbuf();
  files.push_back(make_file(std::move(file.path), text.str()));
}

}  // namespace

bool SourceFile::is_under(std::string_view folder) const {
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

bool SourceFile::has_suffix(std::string_view suffix) const {
  return path.ends_with(suffix);
}

bool SourceFile::is_header() const {
  return has_suffix(".h") || has_suffix(".cuh");
}

bool SourceFile::is_code() const {
  return is_header() || has_suffix(".cpp") || has_suffix(".cu") || has_suffix(".proto");
}

std::string finding(const SourceFile& file, std::size_t line_index, std::string_view what) {
  return fmt::format("{}:{}: {}", file.path, line_index + 1, what);
}

SourceFile make_file(std::string path, std::string_view text) {
  SourceFile file{std::move(path), {}};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    file.lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return file;
}

std::vector<SourceFile> read_source_tree(const std::string& root) {
  std::vector<SourceFile> files;
  for (const auto& entry : fs::directory_iterator(root)) {
    add_if_source(root, entry, files);
  }
  for (const std::string_view folder : kFolders) {
    if (!fs::exists(fs::path(root) / folder)) {
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
      add_if_source(root, entry, files);
    }
  }
  const auto by_path = [](const auto& left, const auto& right) { return left.path < right.path; };
  std::sort(files.begin(), files.end(), by_path);
  return files;
}

}  // namespace moesim::tidy
