#pragma once

#include <vector>

namespace moesim {

// Flows that share media. Flow f, as a whole of size 1, occupies medium m for d_fm seconds: its
// hops. Hops name a use, which is what one collective does with one medium: the flows of a use have
// its weight together.
struct FlowSharing {
  struct Use {
    int medium = 0;
    double weight = 1;  // positive
  };
  struct Hop {
    int use = 0;
    double seconds = 0;  // d_fm, positive
  };

  int num_media = 0;
  std::vector<Use> uses;
  std::vector<int> first_hop = {0};  // by flow, and one past the last
  std::vector<Hop> hops;             // of a flow: each medium at most once
  std::vector<double> caps;          // by flow: the fastest that it goes, alone

  int num_flows() const { return static_cast<int>(first_hop.size()) - 1; }
};

// The rates x_f, in sizes a second, that are max-min fair by weights which links give to
// collectives. With D_u the sum of the seconds of use u's flows, a flow's claim on medium m, at
// level l_m, is the rate l_m * weight_u / D_u: whatever a collective gets of a medium its flows
// there make progress alike. The levels l are such that
//   x_f = the least claim of f on any of its media, or its cap where that is less,
//   every medium m is full, sum over f of d_fm x_f = 1, or is the least claim of no flow.
// So each flow is held by its cap or by a full medium on which none has more for its weight:
// max-min (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2), with a weight for each
// medium (bottleneck fairness: Bonald and Roberts, Multi-resource fairness, 2015). What follows:
//   guarantee   x_f >= the least of weight_u / D_u / (the weights of all on m) over f's media, or
//   cap efficiency  no flow can have more unless another one has less
//
// Progressive filling from below: raising levels lowers what others leave, so that from lower
// bounds l upper bounds follow, and from these better lower ones, until they meet; a flow whose
// least claim is on a medium where they have met is settled. Each turn takes O(hops of flows not
// settled). With weights that belong to flows alone a turn settles at least one medium; else bounds
// close in geometrically. Where they close no further, media hold each other's flows: their levels
// are looked for step by step, and where that finds none the lower bounds count: feasible and
// guaranteed, perhaps not efficient.
std::vector<double> fair_rates(const FlowSharing& sharing);

}  // namespace moesim
