#pragma once

#include <optional>
#include <string>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

struct UncontendedWork;

// kFold simulates one representative of each class of identical ranks, kPorts every rank with its
// own ports. Both give the same times: each port and link drains by itself. In kFlows every message
// of every rank is a flow of its own, and all share ports and links at once by weighted max-min:
// the oracle of the others, for up to some hundred ranks. kAuto is kFold, but with jitter, where no
// two ranks are identical, kPorts.
enum class Resolution { kAuto, kFold, kPorts, kFlows };

// "auto", "fold", "ports", "flows".
const char* name(Resolution resolution);

// Effects that `--ablate` can turn off one at a time.
struct Ablation {
  bool launch_overhead = true;
  bool hardware_queues = true;  // false: every stream has a queue of its own
  bool port_sharing = true;     // false: collectives on one port never slow each other
};

struct SimulationOptions {
  Resolution resolution = Resolution::kAuto;
  Ablation effects{};
  // false: the trace has no spans and no standing of shared links, only end, pass ends and classes
  UncontendedWork* work = nullptr;  // what uncontended_work says, where it is asked for
  bool keep_spans = true;
};

// Simulates one iteration of a Program on SimGrid's clock. `cluster` and `profile` may be null for
// a Program of fixed tasks and host waits alone; a Program that needs them throws Error without.
// The Program must be one that the verifier accepts: a deadlock throws Error naming the tasks that
// wait. So does kFold with jitter.
Trace simulate(const Program& program,
               const Cluster* cluster,
               const Profile* profile,
               const SimulationOptions& options = {});

// Uncontended durations of a Program's tasks, each on the first rank that has a part in it (rank 0,
// unless other roles or groups run it): what the closed forms and the gradient partitioner of
// schedules need, without jitter. Collectives: startup plus transfer of the whole group instance,
// alone. Throws Error where they add up to more than 100 days.
std::vector<Time> task_durations(const Program& program,
                                 const Cluster* cluster,
                                 const Profile* profile);

}  // namespace moesim
