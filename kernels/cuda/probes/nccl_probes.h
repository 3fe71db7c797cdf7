#pragma once

#include <memory>
#include <vector>

#include "kernels/cuda/probes/cuda_probe_device.h"

namespace moesim {

// Collectives over the first GPUs of this process, a thread for each of them. Over one GPU a rank
// talks to itself: NCCL's kernels without links.
class NcclProbes : public CollectiveProbes {
 public:
  explicit NcclProbes(std::vector<int> devices);
  ~NcclProbes() override;

  // The time is that of the member that came last, which waits for nobody. Throws Failure where
  // NCCL fails.
  std::function<Time()> prepare(const GpuProbe& probe) override;

 private:
  class Member;

  std::vector<int> devices_;
};

}  // namespace moesim
