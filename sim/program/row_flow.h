#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/program/footprint.h"
#include "sim/program/role_table.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// Carries row counts from the gates of a Program through its tasks, in launch order. Equal steps
// give the same pattern: the layers of a deep model share theirs.
class RowFlow {
 public:
  explicit RowFlow(const Program& program);

  // Whether the task is a gate whose routing has no capacity.
  static bool is_source(const Task& task);

  // By tensor; null where it is full.
  std::vector<std::shared_ptr<const RowCounts>> run() &&;

 private:
  using Key = std::vector<std::int64_t>;

  void apply(const Task& task);
  void apply_gate(const Task& task);
  // The counts of what the task writes to `to` follow from those of what it reads from `from`.
  void carry(const Task& task, const Region& from, const Region& to);
  RowCounts carried(const Task& task, const Region& from, const Region& to) const;
  RowCounts counts(int tensor) const;  // so far
  std::vector<std::vector<int>> blocks(const Task& task, const Region& region, Use use) const;
  Key key(const Task& task, const Region& from, const Region& to) const;
  int add(Key key, RowCounts counts);

  const Program& program_;
  GroupTable groups_;
  RoleTable roles_;
  std::vector<std::shared_ptr<const RowCounts>> patterns_;
  std::map<Key, int> known_;
  std::vector<int> pattern_of_;  // by tensor; kNone: full
  std::vector<int>
      gathered_over_;  // by tensor: the group of the ALL_GATHER that wrote it, or kNone
};

}  // namespace moesim
