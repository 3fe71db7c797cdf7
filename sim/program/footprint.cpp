#include "sim/program/footprint.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr int floor_mod(int value, int divisor) {
  const int remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

// The group whose members' runs make up the region: that of an ALL_GATHER whose output is relative.
int gather_group(const Task& task, const Region& region, Use use) {
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  const bool gathers = collective != nullptr && use == Use::kWrite &&
                       collective->operation == CollectiveOperation::kAllGather;
  return gathers && region.relative_to != kNone ? collective->group : kNone;
}

Presence presence_of(const GroupTable& groups, const Task& task, Use use) {
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  if (collective == nullptr) {
    return {};
  }
  const int group = collective->group;
  if (collective->operation == CollectiveOperation::kShift && !collective->wrap) {
    const int reach = use == Use::kRead ? collective->distance : -collective->distance;
    return {Presence::Kind::kReach, group, reach};
  }
  if (collective->operation == CollectiveOperation::kBroadcast && use == Use::kRead) {
    return {Presence::Kind::kRoot, group, collective->root};
  }
  return groups.covers_all(group) ? Presence{} : Presence{Presence::Kind::kMembers, group, 0};
}

// The first block of the rank's slot in a run.
int slot_begin(const Program& program,
               const GroupTable& groups,
               const Footprint& footprint,
               int rank) {
  const int group = footprint.frame.relative_to;
  const std::vector<int>& members = program.groups[group].members[groups.instance(group, rank)];
  return groups.index(group, rank) * (footprint.run_blocks / static_cast<int>(members.size()));
}

std::string range_text(int first, int count) {
  return fmt::format("[{}, {})", first, int64_t{first} + count);
}

bool runs_on(const Program& program, const Task& task, int rank) {
  return task.roles.empty() || std::any_of(task.roles.begin(), task.roles.end(), [&](int role) {
           const std::vector<int>& ranks = program.roles[role].ranks;
           return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
         });
}

// Every rank that touches a relative region needs a slot in it.
std::optional<std::string> slotless_rank(const Program& program,
                                         const GroupTable& groups,
                                         const Task& task,
                                         int relative_to) {
  if (groups.covers_all(relative_to)) {
    return std::nullopt;
  }
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    const bool takes_part =
        collective == nullptr || groups.instance(collective->group, rank) != kNone;
    if (groups.instance(relative_to, rank) == kNone && takes_part && runs_on(program, task, rank)) {
      return fmt::format(
          "rank {} has no place in group '{}'", rank, program.groups[relative_to].name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> relative_fault(const Program& program,
                                          const GroupTable& groups,
                                          const Task& task,
                                          const Region& region,
                                          int gather) {
  const int blocks = program.tensors[region.tensor].blocks;
  const int num_runs = gather == kNone ? 1 : groups.uniform_size(gather);
  if (num_runs == 0) {
    return fmt::format(
        "the instances of group '{}' differ in size, so its output has no equal "
        "runs; leave out relative_to",
        program.groups[gather].name);
  }
  if (blocks % num_runs != 0 || region.num_blocks % num_runs != 0) {
    return fmt::format(
        "{} of {} blocks do not make {} equal runs", region.num_blocks, blocks, num_runs);
  }
  const int run_blocks = blocks / num_runs;
  const Group& slots = program.groups[region.relative_to];
  for (const std::vector<int>& members : slots.members) {
    if (run_blocks % static_cast<int>(members.size()) != 0) {
      return fmt::format("{} blocks do not make a slot for each of the {} members of group '{}'",
                         run_blocks,
                         members.size(),
                         slots.name);
    }
  }
  return slotless_rank(program, groups, task, region.relative_to);
}

}  // namespace

void append_circular(const Footprint& footprint,
                     int first,
                     int base,
                     std::vector<BlockRange>& ranges) {
  const int run = footprint.run_blocks;
  first %= run;
  const int end = first + footprint.num_blocks;
  ranges.push_back({base + first, base + std::min(end, run)});
  if (end > run) {
    ranges.push_back({base, base + end - run});
  }
}

void blocks_on(const Program& program,
               const GroupTable& groups,
               const Footprint& footprint,
               int rank,
               std::vector<BlockRange>& ranges) {
  ranges.clear();
  const Frame& frame = footprint.frame;
  if (frame.relative_to == kNone) {
    ranges.push_back({footprint.first_block, footprint.first_block + footprint.num_blocks});
    return;
  }
  const auto first_of = [&](int member) {
    return slot_begin(program, groups, footprint, member) + footprint.first_block;
  };
  if (frame.gather_group == kNone) {
    append_circular(footprint, first_of(rank), 0, ranges);
    return;
  }
  int base = 0;
  const int instance = groups.instance(frame.gather_group, rank);
  for (const int member : program.groups[frame.gather_group].members[instance]) {
    append_circular(footprint, first_of(member), base, ranges);
    base += footprint.run_blocks;
  }
}

std::optional<std::string> bounds_fault(const Program& program,
                                        const GroupTable& groups,
                                        const Task& task,
                                        const Region& region,
                                        Use use) {
  CHECK(0 <= region.tensor && region.tensor < static_cast<int>(program.tensors.size()),
        "task '{}' names tensor {}",
        task.name,
        region.tensor);
  const Tensor& tensor = program.tensors[region.tensor];
  // A region that begins at the end holds nothing, and whoever wrote it meant something.
  const bool begins_behind = region.first_row > 0 && region.first_row >= tensor.rows;
  if (region.first_row < 0 || begins_behind || region.num_rows < 0 ||
      region.num_rows > tensor.rows - region.first_row) {
    return fmt::format("rows {} of {}", range_text(region.first_row, region.num_rows), tensor.rows);
  }
  if (region.num_blocks < 0 || region.num_blocks > tensor.blocks) {
    return fmt::format("{} blocks of {}", region.num_blocks, tensor.blocks);
  }
  if (region.relative_to != kNone) {
    return relative_fault(program, groups, task, region, gather_group(task, region, use));
  }
  if (region.first_block < 0 || (region.first_block > 0 && region.first_block >= tensor.blocks) ||
      region.num_blocks > tensor.blocks - region.first_block) {
    return fmt::format(
        "blocks {} of {}", range_text(region.first_block, region.num_blocks), tensor.blocks);
  }
  return std::nullopt;
}

std::optional<Footprint> make_footprint(const Program& program,
                                        const GroupTable& groups,
                                        const Task& task,
                                        const Region& region,
                                        Use use) {
  if (region.num_blocks == 0 || region.num_rows == 0) {
    return std::nullopt;
  }
  const int blocks = program.tensors[region.tensor].blocks;
  Footprint footprint;
  footprint.tensor = region.tensor;
  footprint.first_row = region.first_row;
  footprint.end_row = region.first_row + region.num_rows;
  footprint.first_block = region.first_block;
  footprint.num_blocks = region.num_blocks;
  footprint.run_blocks = blocks;
  footprint.presence = presence_of(groups, task, use);
  if (region.relative_to != kNone) {
    const int gather = gather_group(task, region, use);
    const int num_runs = gather == kNone ? 1 : groups.uniform_size(gather);
    footprint.frame = {region.relative_to, gather};
    footprint.run_blocks = blocks / num_runs;
    footprint.num_blocks = region.num_blocks / num_runs;
    footprint.first_block = floor_mod(region.first_block, footprint.run_blocks);
  }
  return footprint;
}

}  // namespace moesim
