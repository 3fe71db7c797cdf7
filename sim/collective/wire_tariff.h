#pragma once

#include "sim/collective/tariff.h"

namespace moesim {

// What an operation costs at one place by an algorithm that is not the default one, in one phase.
// A figure of the profile for the group's span and the algorithm is one of nominal bytes, as in
// make_tariff. Without one the prices are of bytes on the wire, at the rates of the cluster's
// ports; start-ups are those of the steps (algorithm_phases.h), of which a profile may have the
// start-up alone, else that of a step of the operation as measured with another algorithm over
// the same members or the level [assumed], else the ports' latencies, all on one of the prices.
// Throws Error when neither profile nor cluster has a figure.
Tariff make_wire_tariff(const Profile& profile,
                        const Cluster& cluster,
                        CollectiveOperation operation,
                        Algorithm algorithm,
                        const MemberPlace& place);

}  // namespace moesim
