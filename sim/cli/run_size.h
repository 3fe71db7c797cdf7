#pragma once

#include <cstdint>
#include <optional>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {

// How fast one core computes and moves memory, and how many there are.
struct MachineSpeed {
  double flops_per_second = 0;
  double bytes_per_second = 0;
  int num_cores = 1;
};

// What makes a run last longer than its work does.
struct Pacing {
  bool is_raw = false;  // nothing does
  double dilation = 1;
  const Cluster* cluster = nullptr;            // null: links are not paced
  const Profile* operation_profile = nullptr;  // of operations that are modelled; null: dilated
  std::optional<int> num_ranks{};              // on this machine; all where absent
};

// What one run of a Program asks of this machine.
struct RunSize {
  int64_t memory_bytes = 0;
  double seconds = 0;
};

// Estimates it, to refuse what nobody would wait for. The time is the larger of two:
//   the work of all ranks, FLOPs / rate + bytes / rate, dealt out to the cores
//   the longest sum of a rank's tasks as they are paced: operations by the dilation or the profile,
//   a collective of b bytes by latency + wire_share * b / rate of the slowest port of its group
// Limits: nothing overlaps in it, so that schedules that overlap take less, by their number of
// streams at most; small operations take longer than their FLOPs say.
RunSize run_size(const Program& program, const MachineSpeed& speed, const Pacing& pacing);

}  // namespace moesim
