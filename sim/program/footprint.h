#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/io/program.h"
#include "sim/program/group_table.h"

namespace moesim {

enum class Use { kRead, kWrite };

// Which of the ranks that run a task touch one of its regions. Ranks outside a collective's group
// touch nothing; neither does the end of a SHIFT without wrap (`value`: how far away the member
// must stand that is sent to or received from); only the root of a BROADCAST reads.
struct Presence {
  enum class Kind { kAlways, kMembers, kReach, kRoot };

  Kind kind = Kind::kAlways;
  int group = kNone;
  int value = 0;

  friend bool operator==(const Presence&, const Presence&) = default;
};

// What the block numbers of a footprint count from: the tensor's first block, the rank's slot in
// the group `relative_to`, or, in each run of an ALL_GATHER over `gather_group`, that member's
// slot. Footprints in one frame keep their distance on every rank.
struct Frame {
  int relative_to = kNone;
  int gather_group = kNone;

  friend bool operator==(const Frame&, const Frame&) = default;
};

// A Region in the form in which regions are compared: `num_blocks` blocks from `first_block` on,
// round the circle of `run_blocks` blocks, in every run of the frame. Never empty.
struct Footprint {
  int tensor = kNone;
  int first_row = 0;
  int end_row = 0;
  int first_block = 0;
  int num_blocks = 0;
  int run_blocks = 0;
  Frame frame;
  Presence presence;

  bool all_blocks() const { return num_blocks == run_blocks; }
};

// Blocks [first, end) of a tensor.
struct BlockRange {
  int first = 0;
  int end = 0;
};

// Blocks first .. first + num_blocks of the footprint's run, round its circle: one range, or two.
void append_circular(const Footprint& footprint,
                     int first,
                     int base,
                     std::vector<BlockRange>& ranges);

// The blocks that the footprint means on a rank, in the order in which collectives list them.
void blocks_on(const Program& program,
               const GroupTable& groups,
               const Footprint& footprint,
               int rank,
               std::vector<BlockRange>& ranges);

// What is wrong with a task's region, if it does not lie within its tensor.
std::optional<std::string> bounds_fault(const Program& program,
                                        const GroupTable& groups,
                                        const Task& task,
                                        const Region& region,
                                        Use use);

// The region's footprint, or nullopt where the region is empty. Its bounds must be right.
std::optional<Footprint> make_footprint(const Program& program,
                                        const GroupTable& groups,
                                        const Task& task,
                                        const Region& region,
                                        Use use);

}  // namespace moesim
