#pragma once

#include <functional>
#include <string>
#include <vector>

namespace moesim {

struct WorkerTasks {
  std::vector<int> indices;              // what to do, handed out in this order
  std::function<std::string(int)> work;  // runs in a worker process
  // Receives each result in this process, in the order in which they become ready.
  std::function<void(int, const std::string&)> done;
};

// Hands the tasks to `num_workers` forked processes, one at a time each, so that slow ones do not
// hold up the others. To be called before SimGrid is used: an engine does not survive a fork.
// Throws Error when `work` throws Error, std::runtime_error when it throws anything else or a
// worker dies; the other workers are ended then.
void run_in_workers(const WorkerTasks& tasks, int num_workers);

}  // namespace moesim
