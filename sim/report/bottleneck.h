#pragma once

#include <string>
#include <vector>

#include "sim/analysis/critical_path.h"
#include "sim/analysis/usage.h"
#include "sim/base/time.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// A share of the critical path that has one cause: a collective operation on one kind of port, all
// computation, launches, waiting.
struct PathPart {
  std::string cause;               // "inter-node AlltoAll", "compute", "kernel launches"
  std::vector<std::string> kinds;  // of its tasks, the longest first
  Time time;
};

// The critical path by cause, the longest first. Without a cluster the ports are unknown, and
// collectives are told apart by their group.
std::vector<PathPart> path_parts(const Program& program,
                                 const Trace& trace,
                                 const Cluster* cluster,
                                 const CriticalPath& path);

// "inter-node AlltoAll (dispatch, combine): 71 % of the critical path; the busiest stream is inter
// at 93 % of the iteration". `parts` must not be empty.
std::string bound_sentence(const std::vector<PathPart>& parts, const Usage& usage, Time iteration);

}  // namespace moesim
