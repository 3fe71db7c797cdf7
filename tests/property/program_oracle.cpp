#include "tests/property/program_oracle.h"

#include <algorithm>
#include <set>
#include <variant>

namespace moesim::testing {
namespace {

// The rank's instance of a group, or nullptr.
const std::vector<int>* instance_of(const Group& group, int rank) {
  for (const std::vector<int>& members : group.members) {
    if (std::find(members.begin(), members.end(), rank) != members.end()) {
      return &members;
    }
  }
  return nullptr;
}

int index_in(const std::vector<int>& members, int rank) {
  return static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
}

bool is_void(const Task& task, const Program& program, bool writes, int rank) {
  if (!std::holds_alternative<Collective>(task.descriptor)) {
    return false;
  }
  const auto& collective = std::get<Collective>(task.descriptor);
  const std::vector<int>* members = instance_of(program.groups[collective.group], rank);
  if (members == nullptr) {
    return true;
  }
  const int own = index_in(*members, rank);
  if (collective.operation == CollectiveOperation::kShift && !collective.wrap) {
    const int partner = writes ? own - collective.distance : own + collective.distance;
    return partner < 0 || partner >= static_cast<int>(members->size());
  }
  return collective.operation == CollectiveOperation::kBroadcast && !writes &&
         own != collective.root;
}

// Blocks of one circle of `run` blocks that starts at `base`.
void add_circle(const Program& program,
                const Region& region,
                int rank,
                int run,
                int num_blocks,
                int base,
                std::vector<int>& blocks) {
  const std::vector<int>& slots = *instance_of(program.groups[region.relative_to], rank);
  const int slot = run / static_cast<int>(slots.size());
  for (int k = 0; k < num_blocks; ++k) {
    const int place = index_in(slots, rank) * slot + region.first_block + k;
    blocks.push_back(base + (place % run + run) % run);
  }
}

}  // namespace

std::vector<int> naive_blocks(
    const Program& program, const Task& task, const Region& region, bool writes, int rank) {
  std::vector<int> blocks;
  if (region.relative_to == kNone) {
    for (int block = 0; block < region.num_blocks; ++block) {
      blocks.push_back(region.first_block + block);
    }
    return blocks;
  }
  const int all = program.tensors[region.tensor].blocks;
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  if (collective == nullptr || !writes ||
      collective->operation != CollectiveOperation::kAllGather) {
    add_circle(program, region, rank, all, region.num_blocks, 0, blocks);
    return blocks;
  }
  const std::vector<int>& members = *instance_of(program.groups[collective->group], rank);
  const auto size = static_cast<int>(members.size());
  for (int i = 0; i < size; ++i) {
    add_circle(program,
               region,
               members[i],
               all / size,
               region.num_blocks / size,
               i * (all / size),
               blocks);
  }
  return blocks;
}

ProgramOracle::ProgramOracle(const Program& program) : program_(program) {
  for (const Tensor& tensor : program.tensors) {
    first_row_.push_back(num_rows_);
    num_rows_ += tensor.blocks * tensor.rows;
  }
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    check_order(rank);
    check_values(rank);
  }
  std::sort(races_.begin(), races_.end());
  races_.erase(std::unique(races_.begin(), races_.end()), races_.end());
}

bool ProgramOracle::runs(int task, int rank) const {
  const std::vector<int>& roles = program_.tasks[task].roles;
  return roles.empty() || std::any_of(roles.begin(), roles.end(), [&](int role) {
           const std::vector<int>& ranks = program_.roles[role].ranks;
           return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
         });
}

std::vector<bool> ProgramOracle::rows_of(int task, int rank, bool writes, bool with_void) const {
  std::vector<bool> rows(num_rows_, false);
  const Task& what = program_.tasks[task];
  if (is_void(what, program_, writes, rank) && !with_void) {
    return rows;
  }
  for (const Region& region : writes ? what.writes : what.reads) {
    for (const int block : naive_blocks(program_, what, region, writes, rank)) {
      const int begin = first_row_[region.tensor] + block * program_.tensors[region.tensor].rows;
      for (int row = 0; row < region.num_rows; ++row) {
        rows[begin + region.first_row + row] = true;
      }
    }
  }
  return rows;
}

// before[i][j]: task i is over before task j starts, on this rank.
void ProgramOracle::check_order(int rank) {
  const auto num_tasks = static_cast<int>(program_.tasks.size());
  std::vector<std::vector<bool>> before(num_tasks, std::vector<bool>(num_tasks, false));
  std::vector<Rows> rows(num_tasks);
  std::vector<int> mine;
  for (int task = 0; task < num_tasks; ++task) {
    if (!runs(task, rank)) {
      continue;
    }
    std::set<int> direct;
    for (const int other : mine) {
      const bool host = program_.tasks[other].stream == kNone;
      if (host || program_.tasks[other].stream == program_.tasks[task].stream) {
        direct.insert(other);
      }
    }
    for (const int wait : program_.tasks[task].waits) {
      if (wait < task && runs(wait, rank)) {
        direct.insert(wait);
      }
    }
    for (const int other : direct) {
      before[other][task] = true;
      for (int i = 0; i < num_tasks; ++i) {
        before[i][task] = before[i][task] || before[i][other];
      }
    }
    rows[task] = {rows_of(task, rank, false), rows_of(task, rank, true)};
    for (const int other : mine) {
      for (int row = 0; row < num_rows_ && !before[other][task]; ++row) {
        const bool used = rows[task].read[row] || rows[task].written[row];
        const bool other_used = rows[other].read[row] || rows[other].written[row];
        if ((used && rows[other].written[row]) || (other_used && rows[task].written[row])) {
          races_.emplace_back(other, task);
          break;
        }
      }
    }
    mine.push_back(task);
  }
}

void ProgramOracle::check_values(int rank) {
  std::vector<bool> known(num_rows_, false);
  for (std::size_t tensor = 0; tensor < program_.tensors.size(); ++tensor) {
    const Tensor& whole = program_.tensors[tensor];
    for (int row = 0; row < whole.blocks * whole.rows; ++row) {
      known[first_row_[tensor] + row] = whole.input;
    }
  }
  for (int task = 0; task < static_cast<int>(program_.tasks.size()); ++task) {
    if (!runs(task, rank)) {
      continue;
    }
    const std::vector<bool> read = rows_of(task, rank, false);
    const std::vector<bool> written = rows_of(task, rank, true);
    const std::vector<bool> named = rows_of(task, rank, false, true);
    for (int row = 0; row < num_rows_; ++row) {
      if (read[row] && !known[row]) {
        unwritten_reads_.push_back(task);
      }
      if (written[row] && known[row] && !named[row]) {
        double_writes_.push_back(task);
      }
    }
    for (int row = 0; row < num_rows_; ++row) {
      known[row] = known[row] || written[row];
    }
  }
}

}  // namespace moesim::testing
