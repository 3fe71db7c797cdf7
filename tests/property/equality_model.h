#pragma once

#include <string>

#include "sim/io/scenario.h"
#include "sim/schedule/schedule.h"

namespace moesim::testing {

// Two small layers on 4 ranks with dropped tokens and an optimizer: the model that mutation tests
// hold to the reference.
Scenario equality_model();

// Four layers on stages, whose roles have scripts of their own and SHIFTs between them: four
// micro-batches, 1F1B. `parallel` says how many stages.
Scenario staged_model(const ParallelConfig& parallel);

// A schedule with two chunks in every pass, as far as the schedule has chunks.
Program two_chunks(const std::string& schedule, const Scenario& scenario);

}  // namespace moesim::testing
