#include "sim/io/files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30U;

[[noreturn]] void fail(const std::string& path, const char* action, const char* advice) {
  const std::string reason = std::generic_category().message(errno);
  throw Error(path, fmt::format("cannot {}: {}; {}", action, reason, advice));
}

// Writes to a path that exists or can be created; false where that failed.
bool write_all(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file.good();
}

constexpr const char* kWriteAdvice = "check the folder, its permissions and the free space";

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(path, "is a folder; name a file in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail(path, "read", "check the path");
  }
  std::string text;
  std::vector<char> chunk(std::size_t{1} << 16U);
  do {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) {
      throw Error(path, "more than 1 GiB; use a smaller file");
    }
  } while (file);
  if (file.bad()) {
    fail(path, "read", "check the file");
  }
  return text;
}

bool is_pipe_or_device(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

void write_file_atomically(const std::string& path, std::string_view text) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    throw Error(path, "is a folder; name a file in it");
  }
  if (is_pipe_or_device(path)) {
    // A rename would put a file in the place of /dev/null.
    if (!write_all(path, text)) {
      fail(path, "write", kWriteAdvice);
    }
    return;
  }
  // Through a symbolic link, its target is replaced and not the link.
  const fs::path target = fs::exists(status) ? fs::canonical(path, error) : fs::path(path);
  const fs::path temporary = fmt::format("{}.{}.tmp", target.string(), getpid());
  if (!write_all(temporary, text) || (fs::rename(temporary, target, error), error)) {
    const int number = error ? error.value() : errno;
    fs::remove(temporary, error);
    errno = number;
    fail(path, "write", kWriteAdvice);
  }
}

std::string resolve_path(const std::string& file, const std::string& path) {
  return (fs::path(file).parent_path() / path).lexically_normal().string();
}

}  // namespace moesim
