#include "sim/io/output_paths.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

// Links and detours aside, so that two names of one file are equal. Not thrown: what is wrong with
// a path shows when it is opened.
fs::path settled(const std::string& path) {
  std::error_code ignored;
  const fs::path result = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return ignored ? fs::path(path) : result;
}

bool contains(const std::vector<std::string>& paths, const std::string& path) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& other) {
    return !other.empty() && settled(other) == settled(path);
  });
}

void check_place(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(path, "is a folder; name a file in it");
  }
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    throw Error(path, fmt::format("there is no folder {}; make it first", folder.string()));
  }
}

}  // namespace

bool is_file_or_absent(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return !fs::exists(status) || fs::is_regular_file(status);
}

void check_outputs(const std::vector<std::string>& outputs,
                   const std::vector<std::string>& inputs) {
  std::vector<std::string> written;
  for (const std::string& path : outputs) {
    if (path.empty()) {
      continue;
    }
    check_place(path);
    if (!is_file_or_absent(path)) {
      continue;
    }
    if (contains(inputs, path)) {
      throw Error(path, "it would overwrite an input; name another file for the output");
    }
    if (contains(written, path)) {
      throw Error(path, "two outputs are to go there; name a file for each");
    }
    written.push_back(path);
  }
}

}  // namespace moesim
