#pragma once

#include <vector>

#include "sim/schedule/definitions.h"

namespace moesim {

// The pairs of degrees that sp_moe can use of those that `given` leaves open; throws Error where
// there is none.
std::vector<Degrees> sequence_degrees(const Scenario& scenario, const DegreeConfig& given);

// Policy `search`: simulates the degrees 1 .. kMaxDegree that `given` leaves open and takes the
// fastest that fits the memory, or the fastest of all where none does; of equal ones the smallest.
// With several micro-batches they are compared on one alone: every pass of an iteration then gains
// alike, (m + p - 1)(f + b) (docs/model.md). The best kFinalists of these are compared on the
// whole, where passes interleave and gradients are reduced once.
Plan search_degrees(const ScheduleDefinition& definition,
                    const RoutedScenario& scenario,
                    const DegreeConfig& given,
                    const Evaluator& evaluator);

}  // namespace moesim
