#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/cuda/nccl/communicators.h"
#include "kernels/host/crew.h"
#include "sim/base/time.h"

namespace moesim {

// Does something on all ranks of this process together, each rank on a thread of its own, always
// the same. Whoever fails leaves the others in calls and kernels that wait for it for ever, and so
// does a link that breaks: the calling thread looks on, and ends the communicators of all ranks,
// side by side, since in NCCL the ranks of a node meet to end them.
class ProbeCrew {
 public:
  // By rank; referred to. `patience`: how long one round may take.
  ProbeCrew(std::vector<Communicators*> communicators, Time patience);

  // Calls body(rank) for each rank, and returns when all have. Throws the first error: what a body
  // threw, an NcclError that a communicator found, or Failure after so long, which names `what` and
  // the ranks that have not come back. After one the communicators are gone.
  void run(const std::string& what, const std::function<void(int rank)>& body);

 private:
  void come_back(int rank, std::exception_ptr error);
  void fail(std::exception_ptr error);
  bool has_failed();
  void watch(const std::string& what);
  bool is_over();  // all are back, or one has failed
  std::string missing_ranks();
  void abort();

  std::vector<Communicators*> communicators_;
  Time patience_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::exception_ptr error_;  // the first of the round
  std::vector<bool> is_back_;
  Crew crew_;  // goes first
};

}  // namespace moesim
