#pragma once

#include <array>
#include <vector>

#include "sim/cli/validate/layer_time.h"
#include "sim/cli/validate/study_layer.h"
#include "sim/io/inputs.h"

namespace moesim::validation {

// A configuration of FSMoE's Table 4. Its 1458 layers differ also in the number of heads {8, 16,
// 32}, which enters no cost: each of the 486 points stands for three layers.
struct GridPoint : StudyLayer {
  FeedForward feed_forward = FeedForward::kSimple;
};

inline constexpr int kLayersPerPoint = 3;

std::vector<GridPoint> fsmoe_grid(const std::array<int, 3>& sequences);

// The point on a testbed, whose MP and ESP span a node and whose EP spans the nodes.
Scenario scenario_at(const GridPoint& point, const Inputs& testbed);

// The grid as the FSMoE paper's cost model counts it: gate, order and loss take no time, and
// attention 4*B*L*M^2/N_MP + 2*B*L^2*M/N_MP multiply-adds for both kinds of feed-forward layers,
// in four kernels, backward twice (FSMoE, section 4, and its code; for Mixtral the paper counts the
// gradient of grouped queries, 2.5*M^2/N_MP, but not their cheaper attention).
std::vector<FixedKind> published_costs(const Scenario& scenario, const Profile& profile);

// How much larger the buffers' whole rows make T than k*f*B*L/(N_MP*E).
double rounding_of(const Scenario& scenario);

}  // namespace moesim::validation
