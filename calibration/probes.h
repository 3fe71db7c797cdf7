#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/scenario.h"

namespace moesim {

// A Program whose tasks are measured one at a time: every probe runs on the backend that runs the
// schedules, through the same executor.
struct Probe {
  std::string name;  // "ALL_TO_ALL between nodes"
  Program program;
};

// A group of the cluster's GPUs whose traffic has the span: those of a node, those with the same
// place on every node, or all. No members where the cluster has no such group of two or more.
Group span_group(const Cluster& cluster, Span span);

// One collective after the other, of these bytes per rank (rounded up to whole rows for every
// member), over the group of the span.
Probe collective_probe(const Cluster& cluster,
                       CollectiveOperation operation,
                       Span span,
                       const std::vector<int64_t>& bytes);

// Two of them that begin together on streams of their own, and one alone: how much longer the two
// take tells whether one fills its port.
Probe paired_probe(const Cluster& cluster, Span span, int64_t bytes);

// The compute operations of the scenario's model and layout, one after the other as schedules
// without overlap issue them, with the sequence cut down to a share of the scenario's.
std::vector<Probe> operation_probes(const Scenario& scenario, const std::vector<double>& shares);

// Empty tasks on one stream: how long the host takes to launch one.
Probe launch_probe(int num_ranks, int num_tasks);

}  // namespace moesim
