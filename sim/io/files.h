#pragma once

#include <string>
#include <string_view>

namespace moesim {

// The bytes of a file or pipe, at most 1 GiB. Throws Error located at the path.
std::string read_file(const std::string& path);

// What is written there cannot be replaced by what is written later.
bool is_pipe_or_device(const std::string& path);

// Writes a whole file or nothing: into a temporary file of the same folder, renamed when complete.
// Pipes and devices are written to directly. Throws Error located at the path.
void write_file_atomically(const std::string& path, std::string_view text);

// A path that stands in `file`, relative to that file's folder.
std::string resolve_path(const std::string& file, const std::string& path);

}  // namespace moesim
