#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/real_time.h"
#include "kernels/host/transport.h"

namespace moesim {

// What ranks that run apart, each in a process or on a thread of its own, tell each other beside
// the collectives of their Program. All ranks make the same calls of gather, broadcast and
// agree_on_start, one behind the other; each throws what fail() was given on any rank, and what
// ended the run otherwise.
class RankPeers {
 public:
  virtual ~RankPeers() = default;

  virtual int rank() const = 0;
  virtual int num_ranks() const = 0;

  // On rank 0 the bytes of all ranks, in order; nothing elsewhere.
  virtual std::vector<std::string> gather(std::string bytes) = 0;
  // The bytes of rank 0, everywhere.
  virtual std::string broadcast(std::string bytes) = 0;

  // Begins a run of the script: waits for all ranks, and returns the moment when they all start.
  virtual MonotonicTime agree_on_start() = 0;

  // For another thread of the rank: called now and then during a run, with a standstill where there
  // is one. Throws what ended the run on another rank, and Hang where all ranks stand still.
  virtual void watch(const std::optional<Standstill>& standstill) = 0;

  // For any thread: the run ends with this, on all ranks.
  virtual void fail(std::exception_ptr error) = 0;
};

}  // namespace moesim
