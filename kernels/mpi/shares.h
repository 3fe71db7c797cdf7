#pragma once

#include "kernels/mpi/mpi_executor.h"
#include "kernels/mpi/mpi_peers.h"
#include "kernels/mpi/processes.h"

namespace moesim {

// What a process has of a Program: an equal run of its ranks, on threads. All processes make one
// and call its functions as often as the others.
class ThreadShare {
 public:
  // Throws Error where the processes made different Programs, on process 0: the others wait for it
  // before they run.
  ThreadShare(MpiWorld& world, const Program& program, const HostOptions& host);

  ExecutedRuns run(const RepeatOptions& options);
  void wait_for_all();

 private:
  Program program_;
  MpiExecutor executor_;
  TensorStore tensors_;
};

// The same for one rank of it, with an executor of its own kind.
class RankShare {
 public:
  RankShare(MpiWorld& world, const Program& program, const MakeRankExecutor& make);

  ExecutedRuns run(const RepeatOptions& options);
  // Closes the executor before.
  void wait_for_all();

 private:
  Program program_;
  HostScript script_;
  MpiPeers peers_;
  RankExecutor rank_;
  TensorStore tensors_;
};

}  // namespace moesim
