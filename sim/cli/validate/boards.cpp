#include "sim/cli/validate/boards.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/cluster/groups.h"
#include "sim/cluster/link_selector.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/engine/task_cost.h"

namespace moesim::validation {
namespace {

constexpr std::size_t kAllToAll = 0;
constexpr std::size_t kAllGather = 2;
constexpr std::array kGroups{"ep", "dp", "esp", "esp"};

// One task of each collective.
Program collectives_program(const Inputs& testbed) {
  Program program;
  program.num_ranks = testbed.cluster.num_gpus();
  program.groups = make_groups(testbed.scenario.parallel);
  program.streams = {"s"};
  for (std::size_t i = 0; i < kBoardCollectives.size(); ++i) {
    const auto group = std::ranges::find(program.groups, kGroups[i], &Group::name);
    CHECK(group != program.groups.end());
    Task& task = program.tasks.emplace_back();
    task.name = kGroups[i];
    task.descriptor = Collective{.operation = kBoardCollectives[i],
                                 .group = static_cast<int>(group - program.groups.begin()),
                                 .bytes = 1 << 30};
  }
  return program;
}

// What each collective puts on a medium, all groups at once, and how many groups do.
struct MediumUse {
  ByCollective seconds{};
  std::array<int, kBoardCollectives.size()> groups{};
};

std::vector<MediumUse> uses_of_media(const Inputs& testbed) {
  const Program program = collectives_program(testbed);
  const TaskCosts costs(program, &testbed.cluster, &testbed.profile);
  std::vector<MediumUse> uses(static_cast<std::size_t>(costs.num_media()));
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    for (const auto& instance : costs.link_loads(program.tasks[i])->of_instance) {
      for (const MediumLoad& load : instance) {
        MediumUse& use = uses[static_cast<std::size_t>(load.medium)];
        use.seconds[i] += load.seconds;
        ++use.groups[i];
      }
    }
  }
  return uses;
}

double of_profile(const Profile& profile, CollectiveOperation operation, Span span) {
  const auto entry = std::ranges::find_if(profile.collectives, [&](const CollectiveCost& cost) {
    return cost.operation == operation && cost.span == span;
  });
  CHECK(entry != profile.collectives.end() && entry->points.empty());
  return entry->seconds_per_byte;
}

// Use of a medium by the fullest collective between nodes and the fullest within.
double use_of(const MediumUse& medium, const ByCollective& measured) {
  const auto use = [&](std::size_t i) { return medium.seconds[i] / measured[i]; };
  return std::max(use(0), use(1)) + std::max(use(2), use(3));
}

bool is_shared(const MediumUse& medium) {
  return medium.seconds[kAllToAll] > 0 && medium.seconds[kAllGather] > 0;
}

Inputs with_bottleneck(const Board& board, BottleneckPlace place, const std::string& link) {
  Inputs testbed = board.testbed;
  for (CollectiveCost& cost : testbed.profile.collectives) {
    cost.bottleneck = place;
    cost.bottleneck_link = link;
  }
  return testbed;
}

// Parts of a node as changes of a cluster name them.
struct Part {
  const char* name;
  const char* links;
};
constexpr std::array kParts{
    Part{"GPUs' links", "node:*/gpu:* -- node:*/pcie_switch:*"},
    Part{"GPUs' links", "node:*/gpu:* -- node:*/root_port:*"},
    Part{"PCIe switches' uplinks", "node:*/pcie_switch:* -- node:*/root_port:*"},
    Part{"interconnect of the sockets", "node:*/socket:* -- node:*/socket:*"},
    Part{"memory", "node:*/socket:* -- node:*/memory:*"}};

// The fullest use of a part's media that both collectives cross; 0 where they share none.
double use_of_part(const Part& part,
                   const Board& board,
                   const std::vector<MediumUse>& media,
                   const ByCollective& measured) {
  const Topology& topology = board.testbed.cluster.links->topology;
  const LinkSelector selector(part.links, "");
  double use = 0;
  for (const Link& link : topology.links()) {
    const MediumUse& medium = media[static_cast<std::size_t>(link.medium)];
    if (is_shared(medium) && selector.matches(topology, link)) {
      use = std::max(use, use_of(medium, measured));
    }
  }
  return use;
}

std::vector<BoardChoice> layouts(int gpus_per_node) {
  std::vector<BoardChoice> layouts{{}};
  std::vector<int> sizes{2, gpus_per_node / 2, gpus_per_node};
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int size : sizes) {
    for (const NicPlacement nic : {NicPlacement::kRootPort, NicPlacement::kSwitch}) {
      layouts.push_back({.gpus_per_switch = size, .nic = nic});
    }
  }
  return layouts;
}

}  // namespace

std::string layout_name(const BoardChoice& choice) {
  if (choice.gpus_per_switch == 0) {
    return "root ports";
  }
  return fmt::format("{} GPUs a switch, NIC {}",
                     choice.gpus_per_switch,
                     choice.nic == NicPlacement::kSwitch ? "at the first" : "apart");
}

Board board_of(const Inputs& testbed, const BoardChoice& choice) {
  Board board{choice, testbed};
  // The measured times are those of the testbed, however it is wired.
  board.testbed.profile.intra_node_rate.reset();
  board.testbed.profile.inter_node_rate.reset();
  Cluster& cluster = board.testbed.cluster;
  CHECK(cluster.wiring.has_value());
  auto& node = std::get<NodeSpec>(cluster.wiring->nodes.front().node);
  node.gpus_per_pcie_switch = choice.gpus_per_switch;
  node.nic_placement = choice.nic;
  node.sockets = choice.gpus_per_switch == cluster.gpus_per_node ? 1 : 2;
  TransferSpec& transfers = cluster.wiring->transfers;
  transfers.gpudirect = choice.gpudirect;
  transfers.peer_access = choice.peer_access ? PeerAccess::kSystem : PeerAccess::kNever;
  cluster = wired(std::move(cluster));
  return board;
}

std::vector<Board> boards_of(const Inputs& testbed) {
  std::vector<Board> boards;
  for (BoardChoice choice : layouts(testbed.cluster.gpus_per_node)) {
    for (const bool gpudirect : {true, false}) {
      for (const bool peer_access : {true, false}) {
        choice.gpudirect = gpudirect;
        choice.peer_access = peer_access;
        boards.push_back(board_of(testbed, choice));
      }
    }
  }
  return boards;
}

ByCollective measured_of(const Inputs& testbed) {
  ByCollective measured{};
  for (std::size_t i = 0; i < kBoardCollectives.size(); ++i) {
    measured[i] = of_profile(
        testbed.profile, kBoardCollectives[i], i < kAllGather ? Span::kFabric : Span::kNode);
  }
  return measured;
}

ByCollective by_links(const Board& board) {
  ByCollective busiest{};
  for (const MediumUse& medium : uses_of_media(with_private_bottlenecks(board))) {
    for (std::size_t i = 0; i < busiest.size(); ++i) {
      busiest[i] = std::max(busiest[i], medium.seconds[i]);
    }
  }
  return busiest;
}

Inputs with_private_bottlenecks(const Board& board) {
  return with_bottleneck(board, BottleneckPlace::kPrivate, "");
}

std::optional<SharedBottleneck> with_shared_bottleneck(const Board& board) {
  const std::vector<MediumUse> media = uses_of_media(with_private_bottlenecks(board));
  const ByCollective measured = measured_of(board.testbed);
  const Part* fullest = nullptr;
  double use = 0;
  for (const Part& part : kParts) {
    if (const double here = use_of_part(part, board, media, measured); here > use) {
      use = here;
      fullest = &part;
    }
  }
  if (fullest == nullptr) {
    return std::nullopt;
  }
  return SharedBottleneck{fullest->name,
                          with_bottleneck(board, BottleneckPlace::kLink, fullest->links)};
}

// A medium can delay someone if one collective alone is slower there than measured, or if one
// between nodes and one within use more than all of it together: no two of either kind are under
// way at once.
Conflict conflict_on(const Inputs& testbed) {
  const ByCollective measured = measured_of(testbed);
  constexpr double kFull = 1 + 1e-9;
  Conflict conflict;
  std::set<std::string> full;
  for (const MediumUse& medium : uses_of_media(testbed)) {
    const double use = use_of(medium, measured);
    conflict.fullest = std::max(conflict.fullest, use);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      conflict.alone |= medium.seconds[i] > kFull * measured[i];
    }
    if (use > kFull) {
      full.insert(
          fmt::format("{:.9e} {}", fmt::join(medium.seconds, " "), fmt::join(medium.groups, " ")));
    }
  }
  conflict.pattern = fmt::format("{}", fmt::join(full, "\n"));
  return conflict;
}

}  // namespace moesim::validation
