#pragma once

#include <string>
#include <utility>
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
  std::string cause;  // "inter-node AlltoAll", "compute", "kernel launches"
  std::vector<std::pair<std::string, Time>> kinds;  // of its tasks, the longest first
  Time time;
};

// What bounds an iteration. The largest part of its critical path, except where that misleads:
// under stragglers, and where stages wait for each other, it is the path of those that are not
// waiting, and where ranks compute nearly all the time it is one of many chains of much the same
// length.
struct Bottleneck {
  std::string name;      // "stragglers", "bubble", or the cause of a part
  Time time;             // out of the iteration: on the path, or the mean over ranks
  Time path_time;        // of that cause on the critical path
  std::string sentence;  // with its numbers
};

// The critical path by cause, the longest first. Without a cluster the ports are unknown, and
// collectives are told apart by their group.
std::vector<PathPart> path_parts(const Program& program,
                                 const Trace& trace,
                                 const Cluster* cluster,
                                 const CriticalPath& path);

inline constexpr const char* kStragglers = "stragglers";
inline constexpr const char* kBubble = "bubble";
inline constexpr const char* kCompute = "compute";

// "inter-node AlltoAll (dispatch 40 %, combine 31 %): 71 % of the critical path; the busiest stream
// is inter at 93 % of the iteration". `parts` must not be empty.
Bottleneck find_bottleneck(const std::vector<PathPart>& parts, const Usage& usage, Time iteration);

}  // namespace moesim
