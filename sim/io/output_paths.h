#pragma once

#include <string>
#include <vector>

namespace moesim {

// False for folders, pipes and devices: nothing can stand beside those, and nothing replaces them.
bool is_file_or_absent(const std::string& path);

// Throws Error for a file that cannot be written or should not: a folder, a file in a folder that
// is not there, a file that the run reads, one that it writes twice. Called before the work, whose
// results would be lost. Empty paths stand for files that are not wanted; pipes and devices may be
// named as often as anyone likes.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

}  // namespace moesim
