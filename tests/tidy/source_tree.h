#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace moesim::tidy {

// One file of the repository; `path` is relative to the root, with forward slashes.
struct SourceFile {
  std::string path;
  std::vector<std::string> lines;

  [[nodiscard]] bool is_under(std::string_view folder) const;    // "sim/base": also deeper
  [[nodiscard]] bool has_suffix(std::string_view suffix) const;  // ".cpp"
  [[nodiscard]] bool is_header() const;                          // .h, .cuh
  [[nodiscard]] bool is_code() const;                            // C++, CUDA or Protobuf
};

// What a rule found, each "path:line: what"; empty when the rule holds.
using Findings = std::vector<std::string>;

std::string finding(const SourceFile& file, std::size_t line_index, std::string_view what);

// Splits text at its line ends; for tests, and for what read_source_tree reads.
SourceFile make_file(std::string path, std::string_view text);

// The code, data, documents, scripts and build files below `root`, sorted by path.
// Goldens and other expected outputs are not sources.
std::vector<SourceFile> read_source_tree(const std::string& root);

}  // namespace moesim::tidy
