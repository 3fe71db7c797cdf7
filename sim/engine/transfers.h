#pragma once

#include <optional>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// Who moves the data of collectives and says when it has arrived: queues, one for each port and
// link (queued_transfers.h), or a network of flows (flow_transfers.h). Collectives are indices into
// Workload::collectives. Time never goes back from call to call.
class Transfers {
 public:
  Transfers() = default;
  virtual ~Transfers() = default;
  Transfers(const Transfers&) = delete;
  Transfers(Transfers&&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  Transfers& operator=(Transfers&&) = delete;

  // A collective begins to move its data. It may slow others that are under way, or speed them up.
  virtual void begin(Time now, int collective) = 0;

  // When the next transfers may have ended; none while nothing is under way.
  virtual std::optional<Time> next() = 0;

  // The collectives whose transfers have ended at `now`, not later than next(), each once.
  virtual std::vector<int> take_ended(Time now) = 0;
};

}  // namespace moesim
