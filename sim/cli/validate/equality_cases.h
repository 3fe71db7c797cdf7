#pragma once

#include <string>
#include <vector>

#include "sim/io/scenario.h"
#include "sim/schedule/schedule.h"

// The models on which schedules are held to an unpartitioned reference: here and in
// tests/property/equality_test.cpp.
namespace moesim::validation {

enum class Load {
  kBalanced,  // no capacity, experts take turns
  kSkewed,    // no capacity, a routing with unequal counts
  kDrops      // by the gate's scores, with less capacity than choices
};
const char* to_string(Load load);

// Those of nine that the schedule can run on: 4 and 8 ranks, mp = esp and not, edp 1 and 2.
std::vector<ParallelConfig> layouts_to_try(const std::string& schedule);

// Two layers of 2 * 24 tokens; experts have 6 to 24 rows, so that 3 and 8 chunks are uneven.
Scenario equality_scenario(const ParallelConfig& parallel, Load load);

// 1, 2, 3, 4 and 8, and different ones for the passes (sp_moe: for its non-MoE part) where the
// schedule has both; 1 where it has no chunks.
std::vector<Degrees> degrees_to_try(const std::string& schedule, const Scenario& scenario);

struct EqualityCase {
  std::string schedule;
  Load load = Load::kBalanced;
  Scenario scenario;
  Degrees degrees;
};

// Every layout, load and degree that the schedule can run, and some of them on 2 and 4 stages with
// 2 to 4 micro-batches.
std::vector<EqualityCase> equality_cases(const std::string& schedule);

// What distinguishes the scenario from others, for messages.
std::string describe(const Scenario& scenario, const Degrees& degrees);

}  // namespace moesim::validation
