#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/group_table.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// The ranks whose tokens a gate's capacity domains hold: with several, domain d holds those of
// member d of the group over which the gate's input was gathered (`gathered_over`); without one
// (kNone), the rank's own.
std::vector<int> source_ranks(
    const Program& program, const GroupTable& groups, int num_domains, int gathered_over, int rank);

// The rows that a gate without capacity fills, per rank and block of its index, none more than the
// `nominal_rows` of a block.
RowCounts gate_counts(const Program& program,
                      const GroupTable& groups,
                      const Gate& gate,
                      int nominal_rows,
                      int gathered_over);

}  // namespace moesim
