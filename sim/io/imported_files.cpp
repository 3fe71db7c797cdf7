#include "sim/io/imported_files.h"

#include <variant>

namespace moesim {
namespace {

std::vector<const NodeDump*> dumps_of(const Cluster& cluster) {
  std::vector<const NodeDump*> dumps;
  if (!cluster.wiring) {
    return dumps;
  }
  for (const NodeGroup& group : cluster.wiring->nodes) {
    if (const auto* dump = std::get_if<NodeDump>(&group.node)) {
      dumps.push_back(dump);
    }
  }
  return dumps;
}

}  // namespace

std::vector<std::string> imported_files(const Cluster& cluster) {
  std::vector<std::string> files;
  for (const NodeDump* dump : dumps_of(cluster)) {
    files.push_back(dump->path);
  }
  return files;
}

void add_imported(const Cluster& cluster, Hash& hash) {
  for (const NodeDump* dump : dumps_of(cluster)) {
    hash.add(std::uint64_t{dump->text.size()}).add(dump->text);
  }
}

}  // namespace moesim
