#pragma once

#include <vector>

#include "kernels/cuda/step_launcher.h"

namespace moesim {

// Who carries out collectives: copies within a device whose memory holds all members, or a library
// between processes.
class CollectiveCarrier {
 public:
  virtual ~CollectiveCarrier() = default;

  // Puts a collective of the script on the streams of its members in this process, in group order,
  // behind what is there. No member's stream goes on before the member's part is done and nobody
  // reads its memory any more.
  virtual void issue(int meeting, const std::vector<LaunchPlace>& members) = 0;
};

}  // namespace moesim
