#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/communicators.h"

namespace moesim {

// The tasks of one role in launch order, and what each of them waits for on its own rank. A task is
// known by its position here. A wait for a task that the role does not run is met at once; one that
// stream order implies is left out.
struct Script {
  std::vector<int> tasks;  // index into Program::tasks
  std::vector<Pass> passes;
  std::vector<int> num_conditions;   // before the start: launch, stream, waits, hardware queue
  std::vector<int> first_dependent;  // dependents [first_dependent[i], first_dependent[i + 1])
  std::vector<int> dependents;       // wait for the end of i
  std::vector<int> queue_successor;  // waits for the start of i, being on another stream; or kNone
  std::vector<int> communicator;     // of a collective, else kNone
  std::vector<int> sequence;         // k: it meets the k-th of other ranks on its communicator

  int size() const { return static_cast<int>(tasks.size()); }
};

// A script for every role, the last for ranks without one; empty where no rank has that role.
struct Scripts {
  std::vector<Script> scripts;
  std::vector<int> of_rank;
  std::vector<Communicator> communicators;
  std::vector<int> num_sequences;  // by communicator: the longest of any script
};

// Whether ranks of the role run the task; the number after the last role is that of no role.
bool runs(const Task& task, int role);

// Streams map to hardware queues in order of first use in the script, modulo `hardware_queues`.
Scripts make_scripts(const Program& program, int hardware_queues);

}  // namespace moesim
