#pragma once

#include "sim/engine/simulate.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/schedule/schedule.h"

namespace moesim {

// What schedules may ask of the simulator and the memory analysis. Refers to the cluster and the
// profile, which must outlive it.
Evaluator make_evaluator(const Cluster& cluster,
                         const Profile& profile,
                         Resolution resolution = Resolution::kAuto);

}  // namespace moesim
