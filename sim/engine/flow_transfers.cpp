#include "sim/engine/flow_transfers.h"

#include <algorithm>

namespace moesim {

void FlowTransfers::begin(Time now, int collective) {
  const int end = workload_.collectives[collective + 1].first_participant;
  Time of_its_own;
  for (int i = workload_.collectives[collective].first_participant; i < end; ++i) {
    of_its_own = std::max(of_its_own, workload_.participants[i].load.of_its_own);
  }
  network_.add(now, collective, maker_.make(collective), now + of_its_own);
}

}  // namespace moesim
