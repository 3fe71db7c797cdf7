#include "sim/io/imported_files.h"

#include <variant>

namespace moesim {

std::vector<std::string> imported_files(const Cluster& cluster) {
  std::vector<std::string> files;
  if (!cluster.wiring) {
    return files;
  }
  for (const NodeGroup& group : cluster.wiring->nodes) {
    if (const auto* dump = std::get_if<NodeDump>(&group.node)) {
      files.push_back(dump->path);
    }
  }
  return files;
}

}  // namespace moesim
