#include "sim/io/append_file.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "sim/base/error.h"

namespace moesim {

AppendFile::AppendFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) {
    fail("cannot be opened for writing");
  }
  // A record lock belongs to this process alone: forked workers neither share nor prolong it.
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(descriptor_, F_SETLK, &lock) != 0) {
    close(descriptor_);
    throw Error(path_, "another process is writing it; wait until that one has ended");
  }
}

AppendFile::~AppendFile() {
  close(descriptor_);
}

std::string AppendFile::read() const {
  std::string text;
  std::array<char, std::size_t{1} << 16U> buffer{};
  for (;;) {
    const auto offset = static_cast<off_t>(text.size());
    const ssize_t size = pread(descriptor_, buffer.data(), buffer.size(), offset);
    if (size < 0) {
      fail("cannot be read");
    }
    if (size == 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

void AppendFile::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor_, text.data(), text.size());
    if (written < 0) {
      fail("cannot be written");
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AppendFile::truncate(std::size_t size) {
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    fail("cannot be shortened");
  }
}

void AppendFile::fail(std::string_view what) const {
  throw Error(path_, fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace moesim
