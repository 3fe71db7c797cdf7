#pragma once

#include <optional>

#include "sim/io/program.h"
#include "sim/program/group_table.h"

namespace moesim {

// A block of some rank's input, by its position in the list of blocks that the task reads there.
struct RowSource {
  int rank = 0;
  int position = 0;
};

// Where a block of a task's output has its rows from: block `position` of the `num_out` that the
// task writes on `rank`, when it reads `num_in` there. Operations that do not move blocks copy each
// to its own place. nullopt where no single block is the source.
struct OutputBlock {
  int rank = 0;
  int position = 0;
  int num_in = 0;
  int num_out = 0;
};

std::optional<RowSource> row_source(const Program& program,
                                    const GroupTable& groups,
                                    const Descriptor& descriptor,
                                    const OutputBlock& block);

}  // namespace moesim
