#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/schedule/schedule.h"

// What one more layer adds to the time of a long model, T(n + 1) - T(n) of the end of the backward
// pass: the published studies of single layers are read so. (A model of one layer hides no gradient
// and overlaps nothing with its neighbours.) The scenario's own number of layers does not count.
namespace moesim::validation {

// Tasks of a kind take these times, in the forward and the backward pass, instead of the profile's.
struct FixedKind {
  std::string_view kind;  // sim/schedule/task_kinds.h
  Time forward;
  Time backward;
};

// Simulated times up to the end of the backward pass, and uncontended durations, with some kinds of
// tasks fixed. Everything fits the memory. Refers to the cluster and the profile.
Evaluator fixed_kinds_evaluator(const Cluster& cluster,
                                const Profile& profile,
                                const std::vector<FixedKind>& kinds);

// Up to the end of the forward pass.
Evaluator forward_only(const Evaluator& evaluator);

// T(3) - T(2) at the best of degrees 1..kMaxDegree, the same for all layers; forward and backward
// apart where the schedule has a degree for each. From n = 2 on T(n + 1) - T(n) stays the same.
// `parm` is the better of its two flows.
Time searched_layer_time(const std::string& schedule,
                         const Scenario& scenario,
                         const Evaluator& evaluator);

// (T(14) - T(2)) / 12 under policy `paper`: its degrees and slices differ between layers, so that
// T(n + 1) - T(n) does too.
Time paper_layer_time(const std::string& schedule,
                      const Scenario& scenario,
                      const Evaluator& evaluator);

}  // namespace moesim::validation
