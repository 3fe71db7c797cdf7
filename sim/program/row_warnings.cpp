// Regions that break no rule and yet are the mark of a mistake: rows that are written and never
// read, of tensors that are read elsewhere, and sums that are read before they are complete.
// Tensors whose regions take single blocks are left out: they differ from rank to rank.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sim/program/problems.h"

namespace moesim {
namespace {

// Rows [first, end) that a task uses.
struct RowUse {
  int first = 0;
  int end = 0;
  int task = kNone;

  bool overlaps(const RowUse& other) const { return first < other.end && other.first < end; }
};

struct TensorUse {
  std::vector<RowUse> reads;  // by tasks that do not write the tensor as well
  std::vector<RowUse> writes;
  std::vector<RowUse> additions;  // in launch order
  bool whole_blocks = true;
};

bool names_tensor(const std::vector<Region>& regions, int tensor) {
  return std::any_of(regions.begin(), regions.end(), [tensor](const Region& region) {
    return region.tensor == tensor;
  });
}

std::vector<TensorUse> collect_uses(const Program& program) {
  std::vector<TensorUse> uses(program.tensors.size());
  for (int index = 0; index < static_cast<int>(program.tasks.size()); ++index) {
    const Task& task = program.tasks[static_cast<size_t>(index)];
    const auto add = [&](const Region& region, bool writes) {
      TensorUse& use = uses[static_cast<size_t>(region.tensor)];
      const Tensor& tensor = program.tensors[static_cast<size_t>(region.tensor)];
      const RowUse rows{region.first_row, region.first_row + region.num_rows, index};
      const bool both = names_tensor(writes ? task.reads : task.writes, region.tensor);
      if (writes) {
        use.writes.push_back(rows);
      } else if (!both) {
        use.reads.push_back(rows);
      }
      if (writes && both) {
        use.additions.push_back(rows);
      }
      use.whole_blocks =
          use.whole_blocks && region.relative_to == kNone && region.num_blocks == tensor.blocks;
    };
    for (const Region& region : task.reads) {
      add(region, false);
    }
    for (const Region& region : task.writes) {
      add(region, true);
    }
  }
  return uses;
}

// What the uses take up together, as runs of rows apart from each other, ascending.
std::vector<RowUse> united(std::vector<RowUse> uses) {
  std::sort(uses.begin(), uses.end(), [](const RowUse& left, const RowUse& right) {
    return left.first < right.first;
  });
  std::vector<RowUse> runs;
  for (const RowUse& use : uses) {
    if (!runs.empty() && use.first <= runs.back().end) {
      runs.back().end = std::max(runs.back().end, use.end);
    } else {
      runs.push_back(use);
    }
  }
  return runs;
}

// The first written row that nothing reads, or kNone.
int first_unread(const TensorUse& use) {
  const std::vector<RowUse> read = united(use.reads);
  for (const RowUse& written : use.writes) {
    const auto behind =
        std::upper_bound(read.begin(), read.end(), written.first, [](int row, const RowUse& run) {
          return row < run.first;
        });
    const int row =
        behind == read.begin() ? written.first : std::max(written.first, std::prev(behind)->end);
    if (row < written.end) {
      return row;
    }
  }
  return kNone;
}

// The first addition to rows of a read sum that is launched after it, or kNone.
int later_addition(const TensorUse& use, const RowUse& read) {
  const auto later = std::upper_bound(
      use.additions.begin(), use.additions.end(), read.task, [](int task, const RowUse& addition) {
        return task < addition.task;
      });
  const auto found = std::find_if(later, use.additions.end(), [&read](const auto& addition) {
    return addition.overlaps(read);
  });
  return found == use.additions.end() ? kNone : found->task;
}

}  // namespace

std::vector<std::string> row_warnings(const Program& program) {
  const std::vector<TensorUse> uses = collect_uses(program);
  std::vector<std::string> warnings;
  for (size_t tensor = 0; tensor < uses.size(); ++tensor) {
    const TensorUse& use = uses[tensor];
    const std::string& name = program.tensors[tensor].name;
    if (!use.whole_blocks || program.tensors[tensor].input || use.reads.empty()) {
      continue;
    }
    if (const int row = first_unread(use); row != kNone) {
      warnings.push_back(
          fmt::format("row {} of tensor '{}' is written and never read, unlike others", row, name));
    }
    for (const RowUse& read : use.reads) {
      if (const int later = later_addition(use, read); later != kNone) {
        warnings.push_back(
            fmt::format("task '{}' reads a sum in tensor '{}' that task '{}' adds to later",
                        program.tasks[static_cast<size_t>(read.task)].name,
                        name,
                        program.tasks[static_cast<size_t>(later)].name));
      }
    }
  }
  return warnings;
}

}  // namespace moesim
