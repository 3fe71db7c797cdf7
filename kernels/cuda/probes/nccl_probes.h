#pragma once

#include <vector>

#include "kernels/cuda/probes/cuda_probe_device.h"

namespace moesim {

// How long the ranks of a probe may take to make their communicators, or for one run, before they
// are given up. Chosen, not measured: NCCL may need some ten seconds to connect the GPUs of a node,
// a run milliseconds.
inline constexpr Time kProbePatience = Time::from_picoseconds(60'000'000'000'000);

// Collectives over the first GPUs of this process, a thread for each of them. Over one GPU a rank
// talks to itself: NCCL's kernels without links.
class NcclProbes : public CollectiveProbes {
 public:
  explicit NcclProbes(std::vector<int> devices, Time patience = kProbePatience);

  // Does it once and compares what each rank received with what it must have. The time is that of
  // the member that came last, which waits for nobody. Throws Failure where CUDA or NCCL fails on a
  // rank, or a rank does not come back, or receives anything else; all ranks are ended then.
  std::function<Time()> prepare(const GpuProbe& probe) override;

 private:
  std::vector<int> devices_;
  Time patience_;
};

}  // namespace moesim
