#pragma once

#include <cstdint>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// Where the tensors of one rank lie in its arena, each at a multiple of kDeviceAlignment.
struct ArenaPlan {
  std::vector<int64_t> offsets;  // by tensor, in bytes; kNone: no task of the role uses it
  int64_t bytes = 0;             // of the arena
};

struct ArenaRequest {
  const Program* program = nullptr;
  int role = 0;                // of RoleTable; its ranks have equal arenas
  std::vector<int64_t> sizes;  // by tensor, in bytes
  std::vector<bool> is_kept;   // by tensor: shares its memory with none
};

// Places tensors, the largest first, each at the lowest place that no tensor holds which may be
// alive at the same time. Two share memory only where every access of one happens before every
// access of the other (TensorLives), whatever the speeds of streams.
ArenaPlan plan_arena(const ArenaRequest& request);

// By tensor: what stands in memory before the Program starts, and what nobody reads again after it
// is written, which is read back after the run.
std::vector<bool> inputs_and_results(const Program& program);

}  // namespace moesim
