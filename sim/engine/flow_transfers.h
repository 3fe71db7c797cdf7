#pragma once

#include "sim/engine/flow_maker.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/transfers.h"

namespace moesim {

// Every message of every collective is a flow of its own, and all share links and ports at once.
// Keeps references to its arguments.
class FlowTransfers : public Transfers {
 public:
  FlowTransfers(const Workload& workload, TaskCosts& costs)
      : workload_(workload), maker_(workload, costs), network_(maker_.num_media()) {}

  void begin(Time now, int collective) override;
  std::optional<Time> next() override { return network_.next(); }
  std::vector<int> take_ended(Time now) override { return network_.take_ended(now); }

 private:
  const Workload& workload_;
  FlowMaker maker_;
  FlowNetwork network_;
};

}  // namespace moesim
