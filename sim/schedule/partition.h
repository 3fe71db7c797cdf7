#pragma once

#include <vector>

#include "sim/schedule/region_model.h"

namespace moesim {

// Where a layer can hide gradient: its MoE region, at one of several degrees, and its dense slot.
struct PartitionLayer {
  std::vector<RegionLine> regions;  // one per allowed degree
  double dense_slot = 0;            // seconds
};

// FSMoE's adaptive gradient partitioning (section 5). `layers` are those that can carry gradients
// of layers above them, in back-propagation order; each layer's attention has `rows_per_layer`
// rows.
struct PartitionProblem {
  std::vector<PartitionLayer> layers;
  int rows_per_layer = 0;
  ReductionTime reduction;
};

// Rows and degree per entry of PartitionProblem::layers; what is left rides on the last AllReduce.
struct Partition {
  std::vector<int> region_rows;
  std::vector<int> dense_rows;
  std::vector<int> degrees;
};

// Step 1 fills what each slot hides for free; step 2 gives what is left to the MoE regions so that
// the sum of their times is least. The authors use differential evolution; here an exact dynamic
// programme, since a region's time is max(alone, busy + slice): some optimum has every extra amount
// at zero, at the end of a degree's flat part, or at all that is available (tests compare it with
// brute force). Beyond 256 partial solutions per layer it keeps the cheapest of each range.
Partition partition_gradient(const PartitionProblem& problem);

}  // namespace moesim
