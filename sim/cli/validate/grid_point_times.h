#pragma once

#include <array>
#include <cstdint>

#include "sim/cli/validate/fsmoe_grid.h"

namespace moesim::validation {

// A schedule as the grid's study runs it.
struct GridRun {
  const char* schedule;
  int hardware_queues;
  Policy policy;
};

// Indices into kGridRuns that tables name.
enum GridRunIndex : std::uint8_t {
  kTutel,
  kDeepspeedMoe,
  kTutelImproved,
  kFsmoeNoIio,
  kFsmoe,
  kFsmoePaper,
  kFsmoeOneQueue,
  kFsmoeOneQueuePaper,
  kTutelPaper,
  kTutelOneQueue,
  kTutelOneQueuePaper,
  kNumGridRuns
};

inline constexpr std::array<GridRun, kNumGridRuns> kGridRuns{
    {{"tutel", 32, Policy::kSearch},
     {"deepspeed_moe", 32, Policy::kSearch},
     {"tutel_improved", 32, Policy::kSearch},
     {"fsmoe_no_iio", 32, Policy::kSearch},
     {"fsmoe", 32, Policy::kSearch},
     {"fsmoe", 32, Policy::kPaper},
     {"fsmoe", 1, Policy::kSearch},
     {"fsmoe", 1, Policy::kPaper},
     {"tutel", 32, Policy::kPaper},
     {"tutel", 1, Policy::kSearch},
     {"tutel", 1, Policy::kPaper}}};

// Seconds that one more layer of the point adds under the run's schedule.
double layer_seconds(const GridRun& run, const GridPoint& point, const Inputs& testbed);

// What the simulator says of one point: seconds that one more layer adds, by run, and the best
// degrees of FSMoE's MoE region alone, without a gradient slice.
struct GridPointTimes {
  std::array<double, kNumGridRuns> seconds{};
  int forward_degree = 1;
  int backward_degree = 1;
  double rounding = 0;
};

GridPointTimes simulate_point(const GridPoint& point, const Inputs& testbed);

}  // namespace moesim::validation
