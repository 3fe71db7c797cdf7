#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "kernels/host/hang_detector.h"
#include "kernels/host/rank_peers.h"

namespace moesim {

// Ranks on threads of one process.
class ThreadPeers {
 public:
  // Keeps references.
  ThreadPeers(const Program& program, const HostScript& script);

  // Lives as long as this.
  RankPeers& of(int rank) { return *ranks_[static_cast<size_t>(rank)]; }

 private:
  class Rank;

  // Gives all ranks what all brought, in order of rank.
  std::vector<std::string> exchange(int rank, std::string bytes);
  void report(int rank, const std::optional<Standstill>& standstill);
  void fail(std::exception_ptr error);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;
  std::vector<std::string> brought_;  // of the round at hand
  std::vector<std::string> shared_;   // of the round before
  int num_brought_ = 0;
  int round_ = 0;
  int run_ = 0;
  HangDetector detector_;
  std::vector<std::unique_ptr<RankPeers>> ranks_;
};

}  // namespace moesim
