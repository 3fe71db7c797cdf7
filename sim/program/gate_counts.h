#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/group_table.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// The rows that a gate without capacity fills, per rank and block of its index, none more than the
// `nominal_rows` of a block. With several capacity domains, domain d holds the tokens of member d
// of the group over which the gate's input was gathered (`gathered_over`, or kNone: the rank's
// own).
RowCounts gate_counts(const Program& program,
                      const GroupTable& groups,
                      const Gate& gate,
                      int nominal_rows,
                      int gathered_over);

}  // namespace moesim
