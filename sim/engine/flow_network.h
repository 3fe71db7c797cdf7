#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/time.h"
#include "sim/engine/fair_rates.h"

namespace moesim {

// The flows of one collective: hops name `uses` of this collective, by their place here. None goes
// faster than in `alone`, the time that the collective takes while nobody slows it.
struct CollectiveFlows {
  Time alone;
  std::vector<FlowSharing::Use> uses;
  std::vector<int> first_hop = {0};
  std::vector<FlowSharing::Hop> hops;
};

// Collectives whose flows share media: whenever one begins and whenever a flow ends, the rates of
// all are found anew (fair_rates.h). A collective ends when its last flow has.
//
// Dates are whole picoseconds: flows end at the nearest one, and those whose ends lie within half a
// picosecond of it, and 1e-12 of their time, end together: a symmetric collective's flows, whose
// rates differ in last bits.
class FlowNetwork {
 public:
  explicit FlowNetwork(int num_media) { sharing_.num_media = num_media; }

  // A collective begins at `now`, never before an earlier call's, and takes `alone` at least.
  // Throws Error when more than kMostHops would be under way.
  void add(Time now, int collective, const CollectiveFlows& flows);

  // When the next flow ends, or the next collective whose flows have; none while it is empty.
  std::optional<Time> next();

  // The collectives that have ended at `now`, not later than next().
  std::vector<int> take_ended(Time now);

  static constexpr std::int64_t kMostHops = 10'000'000;

 private:
  struct Flow {
    int collective = 0;  // index into active_
    double left = 1;     // of its size
    double rate = 0;     // a picosecond
    Time begin;
  };
  struct Active {
    int collective = 0;
    int num_flows = 0;
    Time not_before;
  };

  void move_to(Time now);
  void end_flows();
  void find_rates();
  void drop_ended(std::vector<int>& ended);

  FlowSharing sharing_;  // of the flows under way
  std::vector<Flow> flows_;
  std::vector<Active> active_;
  std::vector<int> active_of_use_;
  Time now_;
  bool has_changed_ = false;  // since rates were found
};

}  // namespace moesim
