#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/io/scenario.h"
#include "sim/model/routing.h"

namespace moesim {

// How the ranks' tokens choose experts in one kind of capacity domain.
struct DomainRouting {
  std::vector<std::vector<int>> tokens;  // [source rank][expert]; empty when balanced
  int largest_count = 0;
};

// A scenario for which each routing is drawn once, however many Programs are built from it: at a
// thousand ranks a draw takes longer than the rest of a degree search. Copies share the draws, so
// only what no routing depends on may be changed in a copy (layers, batch, micro-batches,
// recomputation).
class RoutedScenario : public Scenario {
 public:
  explicit RoutedScenario(const Scenario& scenario);

  // One micro-batch alone.
  RoutedScenario one_micro_batch() const;
  // One micro-batch alone through a layer on each stage, without recomputation: what the schedules
  // ask for the times of a layer's tasks, which are the tasks of layer 0.
  RoutedScenario one_layer() const;

  // Valid as long as any copy lives.
  const DomainRouting& domain_routing(const RoutingDomain& domain) const;

 private:
  using Key = std::pair<int, int>;  // rows, ranks per domain
  std::shared_ptr<std::map<Key, DomainRouting>> drawn_;
};

}  // namespace moesim
