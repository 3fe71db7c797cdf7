#pragma once

#include <chrono>

#include "kernels/host/real_time.h"
#include "kernels/mpi/mpi_world.h"

namespace moesim {

// When a run begins, on this process's clock.
struct StartAgreement {
  MonotonicTime start;
  // On process 0: how far the clocks can be apart at most.
  std::chrono::nanoseconds uncertainty{};
};

// Process 0 compares every process's clock with its own and sends it the moment of the start in its
// own time. It asks for the time again and again and believes the quickest answer: with t0 and t1
// before and after, the other clock is ahead by answer - (t0 + t1) / 2, give or take (t1 - t0) / 2
// (Cristian, Probabilistic clock synchronization, 1989). Calls MPI: for the courier's thread of all
// processes at about the same time. Throws Silence where one does not answer.
StartAgreement agree_on_start(const MpiWorld& world);

}  // namespace moesim
