#include "sim/cli/validate/resolution_cases.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/cli/subject.h"
#include "sim/cluster/groups.h"
#include "sim/cluster/wired_cluster.h"

namespace moesim::validation {
namespace {

using enum CollectiveOperation;

constexpr std::int64_t kMiB = 1 << 20;

constexpr const char* kDgxNode =
    "sockets: 2 gpus_per_pcie_switch: 1 pcie_rate: '63 GB/s' memory_rate: '307.2 GB/s' "
    "socket_interconnect_rate: '120 "
    "GB/s' nvlink { rate: '450 GB/s' switches: 4 } nics: 8 nic_rate: '400 Gb/s'";
constexpr const char* kPcieNode =
    "sockets: 2 gpus_per_pcie_switch: 4 pcie_rate: '25 GB/s' memory_rate: '150 GB/s' "
    "socket_interconnect_rate: '40 GB/s' nics: 2 nic_rate: '100 Gb/s'";
constexpr const char* kSmallPcieNode =
    "sockets: 1 gpus_per_pcie_switch: 2 pcie_rate: '25 GB/s' memory_rate: '60 GB/s' nics: 2 "
    "nic_rate: '100 Gb/s' nic_placement: ROOT_PORT";
constexpr const char* kSlingshotNode =
    "sockets: 1 pcie_rate: '31.5 GB/s' memory_rate: '204.8 GB/s' nvlink { form: MESH rate: '300 "
    "GB/s' } nics: 2 nic_rate: '200 Gb/s' nic_placement: ROOT_PORT";

constexpr const char* kSwitch = "single_switch {}";
constexpr const char* kTree = "fat_tree { down: [4, 4, 16] oversubscription: [2, 2] rails: true }";
constexpr const char* kDragonfly =
    "dragonfly { routers_per_group: 4 nics_per_router: 4 global_links_per_router: 4 } link_rate: "
    "'200 Gb/s'";
constexpr const char* kFullTree = "fat_tree { down: [4, 4, 16] rails: true }";
constexpr const char* kSlowNic = "changes { at: 'node:5/nic:1' kind: NETWORK rate_factor: 0.5 }";

struct Machine {
  int nodes = 0;
  int gpus = 0;
  const char* node = kDgxNode;
  const char* fabric = kSwitch;
  std::string changes{};

  int num_ranks() const { return nodes * gpus; }
  Cluster cluster() const {
    return wired(parse_cluster(fmt::format("num_nodes: {} gpus_per_node: {} gpu_memory: '80 GB' "
                                           "nodes {{ node {{ {} }} }} fabric {{ {} }} {}",
                                           nodes,
                                           gpus,
                                           node,
                                           fabric,
                                           changes),
                               "case"));
  }
};

// A stream for each collective, so that they meet.
Program program_of(int num_ranks, std::vector<Group> groups, std::vector<Collective> collectives) {
  Program program;
  program.name = "case";
  program.num_ranks = num_ranks;
  program.groups = std::move(groups);
  for (size_t i = 0; i < collectives.size(); ++i) {
    program.streams.push_back(fmt::format("stream {}", i));
    Task& task = program.tasks.emplace_back();
    task.name = fmt::format("collective {}", i);
    task.stream = static_cast<int>(i);
    task.descriptor = collectives[i];
  }
  return program;
}

// Groups on the expert grid, the index of each: esp in nodes, ep over some, the rest edp.
enum GroupIndex { kMp, kDp, kEsp, kEp, kEdp, kEpEsp, kWorld };

std::vector<Group> groups_of(int num_ranks, int esp, int ep) {
  return make_groups(
      {.mp = esp, .dp = num_ranks / esp, .esp = esp, .ep = ep, .edp = num_ranks / esp / ep});
}

Collective collective(CollectiveOperation operation, int group, std::int64_t bytes) {
  Collective made;
  made.operation = operation;
  made.group = group;
  made.bytes = bytes;
  return made;
}

ResolutionCase of_collectives(const char* name,
                              const Machine& machine,
                              std::vector<Group> groups,
                              std::vector<Collective> collectives) {
  return {.name = name,
          .cluster = machine.cluster(),
          .profile = {},
          .program = program_of(machine.num_ranks(), std::move(groups), std::move(collectives))};
}

// Every rank sends another number of tokens to every other one.
ResolutionCase unequal_case(const Machine& machine) {
  const int num_ranks = machine.num_ranks();
  ResolutionCase made = of_collectives("AlltoAll of unequal parts over all, single switch",
                                       machine,
                                       groups_of(num_ranks, 1, num_ranks),
                                       {collective(kAllToAll, kWorld, 64 * kMiB)});
  Routing& routing = made.program.routings.emplace_back();
  routing.name = "unequal";
  routing.tokens.resize(static_cast<size_t>(num_ranks));
  for (int from = 0; from < num_ranks; ++from) {
    for (int to = 0; to < num_ranks; ++to) {
      routing.tokens[from].push_back(1 + (from * 7 + to * to * 13) % 97);
    }
  }
  std::get<Collective>(made.program.tasks[0].descriptor).routing = 0;
  return made;
}

// A whole iteration. With links of its own cluster, whose collectives nothing was measured of.
ResolutionCase iteration(const char* name, Inputs inputs, const Machine* machine, int esp) {
  if (machine != nullptr) {
    inputs.cluster = machine->cluster();
    inputs.profile.collectives.clear();
  } else {
    inputs.cluster.num_nodes = 16;
  }
  const int num_ranks = inputs.cluster.num_gpus();
  inputs.scenario.parallel = {.mp = esp, .dp = num_ranks / esp, .esp = esp, .ep = 8, .edp = 1};
  inputs.scenario.parallel.edp = num_ranks / esp / 8;
  inputs.scenario.degrees.forward = inputs.scenario.degrees.backward = 2;
  inputs.scenario.model.layers = 2;
  Subject subject = plan_subject(inputs, "fsmoe", {});
  return {.name = name,
          .cluster = *subject.cluster,
          .profile = *subject.profile,
          .program = std::move(subject.plan.program)};
}

void add_single(std::vector<ResolutionCase>& cases) {
  const Machine switched{8, 8};
  const Machine tree{32, 8, kDgxNode, kTree};
  const Machine slow{16, 8, kDgxNode, kFullTree, kSlowNic};
  const Machine dragonfly{16, 4, kSlingshotNode, kDragonfly};
  const auto over_all = [&](const char* name, const Machine& machine, CollectiveOperation of) {
    cases.push_back(of_collectives(name,
                                   machine,
                                   groups_of(machine.num_ranks(), 1, machine.num_ranks()),
                                   {collective(of, kWorld, 64 * kMiB)}));
  };
  over_all("AlltoAll over all, single switch", switched, kAllToAll);
  over_all("AlltoAll over all, three levels, 2:1, rails", tree, kAllToAll);
  over_all("AllReduce over all, three levels, 2:1, rails", tree, kAllReduce);
  over_all("AlltoAll over all, dragonfly", dragonfly, kAllToAll);
  over_all("AlltoAll over all, one NIC at half rate", slow, kAllToAll);
  cases.push_back(unequal_case(switched));
}

void add_several(std::vector<ResolutionCase>& cases) {
  const Machine tree{16, 8, kDgxNode, kTree};
  const Machine slow{16, 8, kDgxNode, kFullTree, kSlowNic};
  const Machine pcie{16, 8, kPcieNode, kSwitch};
  const Machine dragonfly{16, 4, kSlingshotNode, kDragonfly};
  const auto add =
      [&](const char* name, const Machine& machine, int esp, std::vector<Collective> collectives) {
        const int num_ranks = machine.num_ranks();
        cases.push_back(
            of_collectives(name, machine, groups_of(num_ranks, esp, 8), std::move(collectives)));
      };
  const Collective exchange = collective(kAllToAll, kEp, 64 * kMiB);
  add("AlltoAlls over ep, three levels, 2:1, rails", tree, 8, {exchange});
  add("AlltoAlls over ep, one NIC at half rate", slow, 8, {exchange});
  add("two AlltoAlls over ep at once", tree, 8, {exchange, exchange});
  add("AlltoAll over ep beside AllGather over esp, PCIe",
      pcie,
      8,
      {exchange, collective(kAllGather, kEsp, 64 * kMiB)});
  const Collective gradients = collective(kAllReduce, kDp, 48 * kMiB);
  add("AllReduce over dp beside AlltoAll over ep, 2:1", tree, 8, {gradients, exchange});
  add("the same, one NIC at half rate", slow, 8, {gradients, exchange});
  add("the same, dragonfly", dragonfly, 4, {gradients, exchange});
  add("AllReduce over all beside AlltoAll over ep, dragonfly",
      dragonfly,
      1,
      {collective(kAllReduce, kWorld, 48 * kMiB), exchange});
}

void add_iterations(const Inputs& quickstart, std::vector<ResolutionCase>& cases) {
  const Machine tree{8, 8, kDgxNode, kTree};
  const Machine slow{8, 8, kDgxNode, kFullTree, kSlowNic};
  const Machine pcie{8, 8, kPcieNode, kSwitch};
  cases.push_back(iteration("FSMoE, two ports a GPU", quickstart, nullptr, 4));
  cases.push_back(iteration("FSMoE, esp 8, three levels", quickstart, &tree, 8));
  cases.push_back(iteration("FSMoE, ep 8 in nodes, edp over nodes", quickstart, &tree, 1));
  cases.push_back(iteration("FSMoE, esp 8, one NIC at half rate", quickstart, &slow, 8));
  cases.push_back(iteration("FSMoE, esp 8, PCIe", quickstart, &pcie, 8));
}

constexpr int kRenumberedGpus = 4;
constexpr int kRenumberedNodes = kRenumberedRanks / kRenumberedGpus;
constexpr int kNodesAtALeaf = 4;

}  // namespace

std::vector<ResolutionCase> resolution_cases(const Inputs& quickstart) {
  std::vector<ResolutionCase> cases;
  add_single(cases);
  add_several(cases);
  add_iterations(quickstart, cases);
  return cases;
}

ResolutionCase renumbered_case(const std::vector<int>& new_ranks) {
  const int slow = new_ranks[5 * kRenumberedGpus + 1];
  const Machine machine{
      kRenumberedNodes,
      kRenumberedGpus,
      "sockets: 1 gpus_per_pcie_switch: 1 pcie_rate: '63 GB/s' memory_rate: '307.2 GB/s' nvlink { "
      "rate: '450 GB/s' } "
      "nics: 4 nic_rate: '400 Gb/s'",
      "fat_tree { down: [4, 4, 4] oversubscription: [2, 2] rails: true }",
      fmt::format("changes {{ at: 'node:{}/nic:{}' kind: NETWORK rate_factor: 0.5 }}",
                  slow / kRenumberedGpus,
                  slow % kRenumberedGpus)};
  ResolutionCase made = of_collectives(
      "renumbered",
      machine,
      groups_of(machine.num_ranks(), 1, 16),
      {collective(kAllReduce, kWorld, 48 * kMiB), collective(kAllToAll, kEp, 64 * kMiB)});
  for (Group& group : made.program.groups) {
    for (std::vector<int>& members : group.members) {
      for (int& rank : members) {
        rank = new_ranks[rank];
      }
    }
  }
  return made;
}

std::vector<int> random_numbers(Random& random) {
  const auto shuffled = [&](int count) {
    std::vector<int> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (int i = count - 1; i > 0; --i) {
      std::swap(order[i], order[random.uniform_int(0, i)]);
    }
    return order;
  };
  const std::vector<int> gpus = shuffled(kRenumberedGpus);
  std::vector<int> new_ranks;
  for (int leaf = 0; leaf < kRenumberedNodes / kNodesAtALeaf; ++leaf) {
    for (const int node : shuffled(kNodesAtALeaf)) {
      for (const int gpu : gpus) {
        new_ranks.push_back((leaf * kNodesAtALeaf + node) * kRenumberedGpus + gpu);
      }
    }
  }
  return new_ranks;
}

ResolutionCase random_resolution_case(Random& random) {
  const auto pick = [&](const std::vector<const char*>& texts) {
    return texts[static_cast<size_t>(random.uniform_int(0, std::ssize(texts) - 1))];
  };
  const Machine machine{4 << random.uniform_int(0, 2),
                        2 << random.uniform_int(0, 1),
                        pick({kSlingshotNode, kSmallPcieNode}),
                        pick({kSwitch, "fat_tree { down: [2, 2, 16] oversubscription: [2, 2] }"}),
                        random.uniform() < 0.5 ? ""
                                               : "changes { at: 'node:1/nic:0' kind: NETWORK "
                                                 "rate_factor: 0.25 }"};
  const int num_ranks = machine.num_ranks();
  ResolutionCase made =
      of_collectives("random", machine, groups_of(num_ranks, machine.gpus, machine.nodes), {});
  made.program.streams = {"a", "b", "c"};
  const CollectiveOperation operations[] = {kAllToAll, kAllReduce, kAllGather, kReduceScatter};
  const int groups[] = {kEsp, kEp, kWorld};
  for (auto i = random.uniform_int(2, 6); i > 0; --i) {
    Task& task = made.program.tasks.emplace_back();
    task.name = fmt::format("collective {}", i);
    task.stream = static_cast<int>(random.uniform_int(0, 2));
    task.descriptor = collective(operations[random.uniform_int(0, 3)],
                                 groups[random.uniform_int(0, 2)],
                                 kMiB * random.uniform_int(1, 64));
  }
  return made;
}

}  // namespace moesim::validation
