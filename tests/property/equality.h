#pragma once

#include <string>

#include "kernels/core/rounding.h"
#include "kernels/reference/model_tensors.h"
#include "sim/schedule/schedule.h"

namespace moesim::testing {

// What a schedule's Program computed, run in launch order, beside the reference.
struct ComparedRun {
  ReferenceResults actual;
  ReferenceResults expected;
};

// Fills inputs (integers when rounding, else reals), runs the Program and its model's reference.
// `domains_of` is the Program whose capacity domains the reference takes.
ComparedRun run_both(const Program& program,
                     const Program& domains_of,
                     const Scenario& scenario,
                     Rounding rounding);

// The first result that differs by more than `tolerance` in the relative Euclidean norm (0: in any
// element; NaN always), or a different assignment of tokens; empty when all agree.
std::string first_difference(const ReferenceResults& actual,
                             const ReferenceResults& expected,
                             double tolerance);

}  // namespace moesim::testing
