#pragma once

#include <string>

#include "sim/cli/options.h"
#include "sim/cli/subject.h"
#include "sim/report/result.h"

namespace moesim {

// Writes the trace and the picture that are asked for; both exist before the first is written.
void write_files(const IterationOutputs& outputs, const Subject& subject, const Trace& trace);

// The result as a table or as JSON.
std::string report(const IterationOutputs& outputs,
                   const SimulationResult& result,
                   const Program& program,
                   const Trace& trace);

}  // namespace moesim
