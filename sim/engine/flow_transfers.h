#pragma once

#include "sim/engine/flow_maker.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/queue_load.h"
#include "sim/engine/transfers.h"

namespace moesim {

// Every message of every collective is a flow of its own, and all share links and ports at once.
// Keeps references to its arguments.
class FlowTransfers : public Transfers {
 public:
  FlowTransfers(const Workload& workload, TaskCosts& costs)
      : maker_(workload, costs), network_(num_queues(workload)) {}

  void begin(Time now, int collective) override {
    network_.add(now, collective, maker_.make(collective));
  }
  std::optional<Time> next() override { return network_.next(); }
  std::vector<int> take_ended(Time now) override { return network_.take_ended(now); }

 private:
  FlowMaker maker_;
  FlowNetwork network_;
};

}  // namespace moesim
