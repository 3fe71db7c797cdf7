#include "sim/cluster/fabric.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

int divided(int count, int by) {
  return (count + by - 1) / by;
}

// What every kind of fabric needs while it is built.
struct Site {
  const FabricSpec& fabric;
  const std::vector<double>& nic_rates;
  Topology& topology;
  double fastest_nic = 0;
  double link_rate = 0;  // between switches

  int num_nics() const { return static_cast<int>(nic_rates.size()); }

  int add(int level, int index, int stride = 0, int width = 1) const {
    return topology.add_switch({.kind = ElementKind::kSwitch,
                                .index = index,
                                .level = level,
                                .width = width,
                                .stride = stride});
  }

  void join(int a, int b, double rate) const {
    topology.join(
        {.a = a, .b = b, .kind = LinkKind::kNetwork, .rate = rate, .latency = fabric.link_latency});
  }

  void join_nic(int nic, int to) const { join(topology.nics()[nic], to, nic_rates[nic]); }

  // Before switches and the links between them are added.
  void check_room(double switches, double links) const {
    try {
      check_size(topology, switches, links);
    } catch (const Error& error) {
      throw Error(fmt::format("{:.6g} switches with {:.6g} links for {} NICs; with the nodes {}",
                              switches,
                              links,
                              num_nics(),
                              error.text()));
    }
  }

  void operator()(const SingleSwitch& /*kind*/) const {
    const int only = add(0, 0);
    for (int nic = 0; nic < num_nics(); ++nic) {
      join_nic(nic, only);
    }
  }

  void operator()(const FatTree& tree) const;
  void operator()(const Dragonfly& dragonfly) const;
  void operator()(const Torus& torus) const;
};

// A fat tree as an extended generalized one (Öhring et al., "On generalized fat trees", 1995): on
// level l, each pod has as many switches as the products of the levels' upward links below say.
// Switch w of a pod has upward links to switches w * up, w * up + 1, … of the pod above. Sprayed,
// the equal switches of a pod are one.
class FatTreeBuilder {
  static constexpr int kMostLinks = 1 << 16;  // upward of a switch, and switches of a pod

 public:
  FatTreeBuilder(const Site& site, const FatTree& tree) : site_(site), tree_(tree) {}

  void run() {
    std::vector<std::vector<int>> below = add_leaves();
    int width = 1;
    for (size_t level = 0; level + 1 < tree_.down.size(); ++level) {
      const int up = num_up(level);
      if (int64_t{width} * up > kMostLinks) {
        throw Error(
            fmt::format("{} switches of level {} above each pod of level {}; {} at most: choose "
                        "\"down\", oversubscription and link_rate for fewer",
                        int64_t{width} * up,
                        level + 1,
                        level,
                        kMostLinks));
      }
      if (below.size() > 1) {  // else nothing would use what is above
        below = add_level(below, level, width, up);
      }
      width *= up;
    }
    if (below.size() > 1) {
      throw Error(
          fmt::format("the top level has {} switches that nothing joins; add a level, or "
                      "more to the last number of \"down\"",
                      below.size()));
    }
  }

 private:
  bool is_sprayed() const { return site_.fabric.routing == FabricRouting::kSpray; }

  // With rails, NIC i of so many nodes hang at one leaf.
  std::vector<std::vector<int>> add_leaves() {
    const Topology& topology = site_.topology;
    const int rails = tree_.rails ? num_rails() : 1;
    const int on_rail = site_.num_nics() / rails;
    const int num_leaves = divided(on_rail, tree_.down[0]) * rails;
    std::vector<std::vector<int>> pods;
    for (int leaf = 0; leaf < num_leaves; ++leaf) {
      pods.push_back({site_.add(0, leaf, 1)});
    }
    for (int nic = 0; nic < site_.num_nics(); ++nic) {
      const Element& element = topology.elements()[topology.nics()[nic]];
      const int leaf =
          tree_.rails ? element.node / tree_.down[0] * rails + element.index : nic / tree_.down[0];
      site_.join_nic(nic, pods[leaf][0]);
    }
    return pods;
  }

  int num_rails() const {
    const int num_nodes = static_cast<int>(site_.topology.nodes().size());
    std::vector<int> nics(num_nodes);
    for (const int nic : site_.topology.nics()) {
      ++nics[site_.topology.elements()[nic].node];
    }
    if (*std::max_element(nics.begin(), nics.end()) !=
        *std::min_element(nics.begin(), nics.end())) {
      throw Error("rails need as many NICs in every node; remove rails, or make the nodes alike");
    }
    return nics[0];
  }

  // Upward links of a switch: what comes in from below over what a link takes and the level's
  // oversubscription.
  int num_up(size_t level) const {
    const double below = level == 0 ? site_.fastest_nic : site_.link_rate;
    const double links =
        tree_.down[level] * below / (tree_.oversubscription[level] * site_.link_rate);
    const double whole = std::round(links);
    if (whole < 1 || std::abs(links - whole) > 1e-6 * links || whole > kMostLinks) {
      throw Error(
          fmt::format("a switch of level {} would have {:.6g} links upward; choose \"down\", "
                      "oversubscription and link_rate for a whole number of {} at most",
                      level,
                      links,
                      kMostLinks));
    }
    return static_cast<int>(whole);
  }

  struct Links {
    int width = 1;
    int up = 1;
  };

  void check_pods(double pods, double pods_below, const Links& links) const {
    const double equal = 1.0 * links.width * links.up;
    if (is_sprayed()) {
      site_.check_room(pods, pods_below);
    } else {
      site_.check_room(pods * equal, pods_below * equal);
    }
  }

  std::vector<std::vector<int>> add_level(const std::vector<std::vector<int>>& below,
                                          size_t level,
                                          int width,
                                          int up) {
    const int per_pod = tree_.down[level + 1];
    const int above = is_sprayed() ? 1 : width * up;
    const int equal = is_sprayed() ? width * up : 1;
    std::vector<std::vector<int>> pods(divided(static_cast<int>(below.size()), per_pod));
    check_pods(static_cast<double>(pods.size()), static_cast<double>(below.size()), {width, up});
    for (int pod = 0; pod < std::ssize(pods); ++pod) {
      for (int i = 0; i < above; ++i) {
        pods[pod].push_back(
            site_.add(static_cast<int>(level) + 1, pod * above + i, width * up, equal));
      }
    }
    for (int pod = 0; pod < std::ssize(below); ++pod) {
      join_up(below[pod], pods[pod / per_pod], {width, up});
    }
    return pods;
  }

  void join_up(const std::vector<int>& from, const std::vector<int>& to, const Links& links) const {
    if (is_sprayed()) {
      site_.join(from[0], to[0], links.width * links.up * site_.link_rate);
      return;
    }
    for (int w = 0; w < std::ssize(from); ++w) {
      for (int i = 0; i < links.up; ++i) {
        site_.join(from[w], to[w * links.up + i], site_.link_rate);
      }
    }
  }

  const Site& site_;
  const FatTree& tree_;
};

void Site::operator()(const FatTree& tree) const {
  FatTreeBuilder(*this, tree).run();
}

// Kim et al., "Technology-driven, highly-scalable dragonfly topology", 2008. Link k of group g to
// the group that comes j + 1 after it is global port j * n + k of g, and ports fill routers in
// order.
void Site::operator()(const Dragonfly& dragonfly) const {
  const int per_group = dragonfly.routers_per_group;
  const int num_routers = divided(num_nics(), dragonfly.nics_per_router);
  const int num_groups = divided(num_routers, per_group);
  const int64_t ports = int64_t{per_group} * dragonfly.global_links_per_router;
  if (num_groups - 1 > ports) {
    throw Error(fmt::format("{} groups need {} global links of each, which has {}; add some",
                            num_groups,
                            num_groups - 1,
                            ports));
  }
  const int64_t between = num_groups > 1 ? ports / (num_groups - 1) : 0;
  const double num_all = double{1} * num_groups * per_group;
  const double num_local = num_all * (per_group - 1) / 2;
  const double num_global = 0.5 * num_groups * (num_groups - 1) * static_cast<double>(between);
  check_room(num_all, num_local + num_global);
  std::vector<int> routers;
  for (int i = 0; i < num_groups * per_group; ++i) {
    routers.push_back(add(0, i));
  }
  for (int nic = 0; nic < num_nics(); ++nic) {
    join_nic(nic, routers[nic / dragonfly.nics_per_router]);
  }
  const auto router = [&](int group, int64_t port) {
    return routers[group * per_group + port / dragonfly.global_links_per_router];
  };
  for (int group = 0; group < num_groups; ++group) {
    for (int i = 0; i < per_group; ++i) {
      for (int j = i + 1; j < per_group; ++j) {
        join(routers[group * per_group + i], routers[group * per_group + j], link_rate);
      }
    }
    for (int other = group + 1; other < num_groups; ++other) {
      for (int64_t k = 0; k < between; ++k) {
        const int64_t here = (other - group - 1) * between + k;
        const int64_t there = (group - other - 1 + num_groups) * between + k;
        join(router(group, here), router(other, there), link_rate);
      }
    }
  }
}

void Site::operator()(const Torus& torus) const {
  double size_of_grid = 1;
  for (const int size : torus.dimensions) {
    size_of_grid *= size;
  }
  if (size_of_grid * torus.nics_per_router < num_nics()) {
    throw Error(fmt::format("room for {:.0f} NICs, and the nodes have {}; make it larger",
                            size_of_grid * torus.nics_per_router,
                            num_nics()));
  }
  check_room(size_of_grid, size_of_grid * static_cast<double>(torus.dimensions.size()));
  const auto num_routers = static_cast<int>(size_of_grid);
  std::vector<int> routers;
  for (int i = 0; i < num_routers; ++i) {
    routers.push_back(add(0, i));
  }
  for (int nic = 0; nic < num_nics(); ++nic) {
    join_nic(nic, routers[nic / torus.nics_per_router]);
  }
  int step = 1;
  for (const int size : torus.dimensions) {
    for (int i = 0; i < num_routers; ++i) {
      const int place = i / step % size;
      const int next = place + 1 < size ? i + step : i - place * step;
      if (size > 2 || (size == 2 && place == 0)) {
        join(routers[i], routers[next], link_rate);
      }
    }
    step *= size;
  }
}

// Ways to each switch that has NICs are looked for among all switches (fabric_paths.h).
void check_ways(const Topology& topology) {
  constexpr double kMost = 2e9;  // steps; some ten seconds
  double switches = 0;
  std::vector<bool> is_leaf(topology.elements().size());
  for (const Element& element : topology.elements()) {
    switches += element.node == kNone ? 1 : 0;
  }
  for (const Link& link : topology.links()) {
    if (link.kind == LinkKind::kNetwork && topology.elements()[link.from].node != kNone) {
      is_leaf[link.to] = true;
    }
  }
  const auto leaves = static_cast<double>(std::ranges::count(is_leaf, true));
  if (leaves * switches > kMost) {
    throw Error(
        fmt::format("{:.0f} switches, {:.0f} of them with NICs: more than ways can be found "
                    "through; join more NICs at a switch, or use a fat tree with routing SPRAY",
                    switches,
                    leaves));
  }
}

}  // namespace

void add_fabric(const FabricSpec& fabric,
                const std::vector<double>& nic_rates,
                Topology& topology) {
  if (!nic_rates.empty()) {
    const double fastest = *std::max_element(nic_rates.begin(), nic_rates.end());
    const double link_rate = fabric.link_rate > 0 ? fabric.link_rate : fastest;
    std::visit(Site{fabric, nic_rates, topology, fastest, link_rate}, fabric.kind);
    check_ways(topology);
  }
}

}  // namespace moesim
