#pragma once

#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/cluster/topology.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {

// How busy the links of a cluster are in an iteration. A link's utilisation is the time for which
// what crosses it would occupy it alone, over the iteration: 1 is a link that is never idle. It
// follows from what collectives put on links, however the ranks were simulated.
struct LinkLoad {
  // Links that are used alike, or a kind of port: what the profile has measured loads ports as
  // well.
  struct Row {
    std::string kind;  // "nvlink", …, "port"
    std::string name;  // of the first of them: "node:0/nic:1 -> switch:0/1"; "inter-node out"
    int count = 0;     // how many are alike; of ports, how many there are
    double rate = 0;   // bytes per second; 0 for ports
    double bytes = 0;  // that each carries; 0 for ports
    // Of a port, of the busiest one. Of links on which the profile spends measured times
    // (`bottleneck: LINK`), longer than the bytes take at the rate.
    double busy_seconds = 0;
    double utilisation = 0;
  };

  std::string title;  // "quickstart, fsmoe"
  double iteration_seconds = 0;
  std::vector<Row> rows;          // busiest first, ports last
  std::vector<double> of_medium;  // utilisation; 0 where nothing crosses it
  int busiest_medium = kNone;     // kNone: no link is used
};

// Of a cluster that has links (CHECK). `profile` as for simulate.
LinkLoad make_link_load(const Program& program,
                        const Cluster& cluster,
                        const Profile* profile,
                        Time iteration);

// A row for each of `rows`; numbers of ports that they do not have are empty, in JSON null.
std::string to_csv(const LinkLoad& load);
std::string to_json(const LinkLoad& load);

// The picture of the topology (topology_svg.h) with links coloured by their utilisation: the
// fabric, and the node that has the busiest link.
std::string to_svg(const LinkLoad& load, const Cluster& cluster);

}  // namespace moesim
