#pragma once

#include <string>

#include "kernels/core/rounding.h"
#include "kernels/reference/model_tensors.h"
#include "sim/io/scenario.h"

namespace moesim {

// What a schedule's Program computed, run in launch order, beside the reference.
struct ComparedRun {
  ReferenceResults actual;
  ReferenceResults expected;
};

// Fills inputs (integers when rounding, else reals), runs the Program in launch order and its
// model's reference. `domains_of` is the Program whose capacity domains the reference takes: the
// same one, or what it was before a test changed it.
ComparedRun run_beside_reference(const Program& program,
                                 const Program& domains_of,
                                 const Scenario& scenario,
                                 Rounding rounding);

// The first result that differs: a token that another expert has or drops; by more than `tolerance`
// in the relative Euclidean norm, at 0 in any bit of any element; NaN always. Empty when all agree.
std::string first_difference(const ReferenceResults& actual,
                             const ReferenceResults& expected,
                             double tolerance);

}  // namespace moesim
