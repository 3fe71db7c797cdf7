#include "sim/io/collective_bytes.h"

#include <variant>
#include <vector>

namespace moesim {
namespace {

int64_t region_bytes(const Program& program, const std::vector<Region>& regions) {
  int64_t bytes = 0;
  for (const Region& region : regions) {
    bytes += region.num_list_rows() * program.tensors[region.tensor].row_bytes();
  }
  return bytes;
}

}  // namespace

int64_t collective_bytes(const Program& program, const Task& task) {
  const auto& collective = std::get<Collective>(task.descriptor);
  if (task.reads.empty() && task.writes.empty()) {
    return collective.bytes;
  }
  const int64_t read = region_bytes(program, task.reads);
  const int64_t written = region_bytes(program, task.writes);
  const auto& members = program.groups[collective.group].members;
  const auto group_size = static_cast<int64_t>(members.empty() ? 0 : members.front().size());
  switch (collective.operation) {
    case CollectiveOperation::kAllGather:
      return task.writes.empty() ? read * group_size : written;
    case CollectiveOperation::kReduceScatter:
      return task.reads.empty() ? written * group_size : read;
    case CollectiveOperation::kAllReduce:
    case CollectiveOperation::kAllToAll:
    case CollectiveOperation::kShift:
    case CollectiveOperation::kBroadcast:
      return task.reads.empty() ? written : read;
  }
  return 0;
}

}  // namespace moesim
