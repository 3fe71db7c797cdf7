#pragma once

#include "kernels/host/hang_detector.h"
#include "kernels/host/rank_peers.h"
#include "kernels/mpi/courier.h"

namespace moesim {

// Ranks in processes that mpirun started, one in each: rank r is process r.
class MpiPeers : public RankPeers {
 public:
  // Keeps references.
  MpiPeers(MpiWorld& world, const Program& program, const HostScript& script);

  int rank() const override { return world_.process(); }
  int num_ranks() const override { return world_.num_processes(); }

  std::vector<std::string> gather(std::string bytes) override;
  std::string broadcast(std::string bytes) override;
  MonotonicTime agree_on_start() override;
  void watch(const std::optional<Standstill>& standstill) override;
  void fail(std::exception_ptr error) override { courier_.fail(std::move(error)); }

  Courier& courier() { return courier_; }

 private:
  MpiWorld& world_;
  int run_ = 0;
  HangDetector detector_;
  Courier courier_;
};

}  // namespace moesim
