#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/collective/link_loads.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/task_cost.h"
#include "sim/engine/workload.h"

namespace moesim {

// Throws Error where the messages of one collective, over all instances of its group, are more than
// a network of flows follows. Known without making any: of a direct all-to-all, which has most.
void check_num_messages(const TaskCosts& costs);

// The flows of a Workload's collectives: one for each message, over the links of its way and, where
// what the profile measured loads ports, over its sender's and its receiver's port. What a
// collective puts on a link or port in resolution `ports` is divided over the messages that cross
// it in proportion to their bytes there; where none crosses a port, over all that the member sends
// or receives; where there are none either, it is a flow of its own. Media are numbered as queues
// (queue_load.h). Keeps references to its arguments; every rank of the workload is a class of its
// own.
class FlowMaker {
 public:
  FlowMaker(const Workload& workload, TaskCosts& costs);

  CollectiveFlows make(int collective);

 private:
  // Messages with what they occupy of links, in the collective's proportions.
  struct Ways {
    std::vector<MemberFlow> messages;  // `share` in bytes
    std::vector<int> first_hop = {0};
    std::vector<MediumLoad> hops;
  };
  // Which collective of which Workload task, and on which ranks.
  struct Subject {
    const Task* task = nullptr;
    int phase = 0;
    int instance = 0;
    const std::vector<int>* members = nullptr;
    std::vector<const CollectiveLoad*> loads;  // by member
  };

  Subject subject(int collective) const;
  std::shared_ptr<const Ways> ways(const Subject& subject);
  Ways find_ways(const Subject& subject) const;
  std::vector<double> link_factors(int collective, const Ways& ways) const;

  const Workload& workload_;
  TaskCosts& costs_;
  std::map<std::pair<CollectiveCosts::LinkKey, int>, std::shared_ptr<const Ways>>
      known_;  // and the instance
};

}  // namespace moesim
