#include "sim/engine/flow_maker.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cluster/cluster_links.h"

namespace moesim {
namespace {

// Flows with the uses that their hops name, each medium once.
class FlowWriter {
 public:
  // A hop of the flow that comes next. Adds to one on the same medium.
  void add_hop(int medium, double weight, double seconds) {
    const auto [found, is_new] = use_of_.try_emplace(medium, static_cast<int>(flows_.uses.size()));
    if (is_new) {
      flows_.uses.push_back({medium, weight});
    }
    const auto begin = flows_.hops.begin() + flows_.first_hop.back();
    const auto same = std::find_if(begin, flows_.hops.end(), [&](const FlowSharing::Hop& hop) {
      return hop.use == found->second;
    });
    if (same == flows_.hops.end()) {
      flows_.hops.push_back({found->second, seconds});
    } else {
      same->seconds += seconds;
    }
  }

  // A flow that occupies nothing is none.
  void finish_flow() {
    if (flows_.first_hop.back() < std::ssize(flows_.hops)) {
      flows_.first_hop.push_back(static_cast<int>(flows_.hops.size()));
    }
  }

  CollectiveFlows take() { return std::move(flows_); }

 private:
  CollectiveFlows flows_;
  std::map<int, int> use_of_;  // by medium
};

constexpr std::array<Port, kNumPorts> kPorts = {
    Port::kIntraOut, Port::kIntraIn, Port::kInterOut, Port::kInterIn};

// The member whose port a message would cross, or kNvSwitchEnd.
int end_at(const MemberFlow& message, Port port) {
  return port == Port::kIntraOut || port == Port::kInterOut ? message.from : message.to;
}

// A port of a member with the messages that load it, in seconds for each of their bytes.
struct PortShare {
  double seconds_per_byte = 0;
  bool any_reach = false;  // no message crosses the port: all of the member's count
};

// Whose messages load which ports of members, and what is left without any.
class PortShares {
 public:
  PortShares(const Cluster& cluster,
             const std::vector<int>& ranks,
             const std::vector<const CollectiveLoad*>& loads,
             const std::vector<MemberFlow>& messages)
      : loads_(loads), nodes_(nodes_of(cluster, ranks)) {
    for (const Port port : kPorts) {
      const auto p = static_cast<size_t>(port);
      std::vector<double> crossing(ranks.size());
      std::vector<double> all(ranks.size());
      for (const MemberFlow& message : messages) {
        if (const int member = end_at(message, port); member != kNvSwitchEnd) {
          all[member] += message.share;
          crossing[member] += crosses(message, port) ? message.share : 0;
        }
      }
      shares_[p].resize(ranks.size());
      for (size_t member = 0; member < ranks.size(); ++member) {
        const double bytes = crossing[member] > 0 ? crossing[member] : all[member];
        shares_[p][member].any_reach = crossing[member] <= 0;
        if (bytes > 0) {
          shares_[p][member].seconds_per_byte = loads[member]->load[p].seconds() / bytes;
        } else if (loads[member]->load[p] > Time::zero()) {
          alone_.emplace_back(static_cast<int>(member), port);
        }
      }
    }
  }

  double seconds(const MemberFlow& message, Port port) const {
    const int member = end_at(message, port);
    if (member == kNvSwitchEnd) {
      return 0;
    }
    const PortShare& share = shares_[static_cast<size_t>(port)][member];
    return share.any_reach || crosses(message, port) ? share.seconds_per_byte * message.share : 0;
  }

  // Ports whose load no message of the member explains.
  const std::vector<std::pair<int, Port>>& alone() const { return alone_; }

 private:
  bool crosses(const MemberFlow& message, Port port) const {
    const bool at_switch = message.from == kNvSwitchEnd || message.to == kNvSwitchEnd;
    const bool inside = at_switch || nodes_[message.from] == nodes_[message.to];
    return inside == (port == Port::kIntraOut || port == Port::kIntraIn);
  }

  const std::vector<const CollectiveLoad*>& loads_;
  std::vector<int> nodes_;  // by member
  std::array<std::vector<PortShare>, kNumPorts> shares_;
  std::vector<std::pair<int, Port>> alone_;
};

}  // namespace

void check_num_messages(const TaskCosts& costs) {
  for (const Task& task : costs.program().tasks) {
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective == nullptr || collective->operation != CollectiveOperation::kAllToAll ||
        collective->routing != kNone || costs.differs_by_instance(task)) {
      continue;  // another algorithm may send fewer, an empty part is not sent
    }
    std::int64_t num_messages = 0;
    for (const std::vector<int>& members : costs.program().groups[collective->group].members) {
      num_messages += std::ssize(members) * (std::ssize(members) - 1);
    }
    if (num_messages > FlowNetwork::kMostHops) {
      throw Error(
          fmt::format("'{}' sends {} messages; resolution flows follows at most {} links "
                      "and ports that messages cross at once; choose ports or fold, or "
                      "fewer ranks",
                      visible_in_line(task.name),
                      num_messages,
                      FlowNetwork::kMostHops));
    }
  }
}

FlowMaker::FlowMaker(const Workload& workload, TaskCosts& costs)
    : workload_(workload), costs_(costs) {}

CollectiveFlows FlowMaker::make(int collective) {
  const Subject of = subject(collective);
  const std::shared_ptr<const Ways> found = ways(of);
  const std::vector<double> factors = link_factors(collective, *found);
  const PortShares ports(costs_.cluster(), *of.members, of.loads, found->messages);
  const auto port_medium = [&](int member, Port port) {
    return (*of.members)[member] * kNumPorts + static_cast<int>(port);
  };
  FlowWriter writer;
  for (size_t i = 0; i < found->messages.size(); ++i) {
    const MemberFlow& message = found->messages[i];
    for (const Port port : kPorts) {
      const int member = end_at(message, port);
      if (const double seconds = ports.seconds(message, port); seconds > 0) {
        writer.add_hop(port_medium(member, port), of.loads[member]->weight, seconds);
      }
    }
    for (int hop = found->first_hop[i]; hop < found->first_hop[i + 1]; ++hop) {
      const auto& [medium, share] = found->hops[hop];
      if (const double seconds = share * factors[medium]; seconds > 0) {
        const int link = workload_.classes.of_medium[medium];
        writer.add_hop(workload_.num_ranks() * kNumPorts + link, of.loads[0]->weight, seconds);
      }
    }
    writer.finish_flow();
  }
  for (const auto& [member, port] : ports.alone()) {
    const CollectiveLoad& load = *of.loads[member];
    writer.add_hop(
        port_medium(member, port), load.weight, load.load[static_cast<size_t>(port)].seconds());
    writer.finish_flow();
  }
  CollectiveFlows flows = writer.take();
  flows.alone = workload_.collectives[collective].alone;
  return flows;
}

// By medium: what turns proportions into the seconds that the collective puts there.
std::vector<double> FlowMaker::link_factors(int collective, const Ways& ways) const {
  std::vector<double> sums(static_cast<size_t>(costs_.num_media()));
  for (const MediumLoad& hop : ways.hops) {
    sums[hop.medium] += hop.seconds;
  }
  std::vector<double> factors(sums.size());
  const JointCollective& joint = workload_.collectives[collective];
  for (int i = joint.first_link_use; i < joint.end_link_use; ++i) {
    const LinkUse& use = workload_.link_uses[i];
    const int medium = workload_.classes.media[use.link];
    factors[medium] = joint.load(use).seconds() / sums[medium];
  }
  return factors;
}

FlowMaker::Subject FlowMaker::subject(int collective) const {
  const int first = workload_.collectives[collective].first_participant;
  const int end = workload_.collectives[collective + 1].first_participant;
  const int first_slot = workload_.participants[first].slot;
  const int rank = workload_.slots[first_slot].rank;
  const int position = first_slot - workload_.first_slot[rank];
  const Program& program = costs_.program();
  Subject subject;
  subject.phase = workload_.collectives[collective].phase;
  subject.task = &program.tasks[workload_.script(rank).tasks[position]];
  const int group = std::get<Collective>(subject.task->descriptor).group;
  subject.instance = costs_.groups().instance(group, rank);
  subject.members = &program.groups[group].members[subject.instance];
  subject.loads.resize(subject.members->size());
  for (int i = first; i < end; ++i) {
    const Participant& participant = workload_.participants[i];
    const int member = costs_.groups().index(group, workload_.slots[participant.slot].rank);
    subject.loads[member] = &workload_.load(participant);
  }
  return subject;
}

// Layers of a model move their data alike: ways are looked for once.
std::shared_ptr<const FlowMaker::Ways> FlowMaker::ways(const Subject& subject) {
  if (costs_.depends_on_rank(*subject.task)) {
    return std::make_shared<const Ways>(find_ways(subject));
  }
  std::shared_ptr<const Ways>& known =
      known_[{costs_.link_key(*subject.task, subject.phase), subject.instance}];
  if (known == nullptr) {
    known = std::make_shared<const Ways>(find_ways(subject));
  }
  return known;
}

FlowMaker::Ways FlowMaker::find_ways(const Subject& subject) const {
  Ways ways;
  ways.messages = costs_.messages(*subject.task, subject.instance, subject.phase);
  if (!costs_.has_links()) {
    ways.first_hop.resize(ways.messages.size() + 1);
    return ways;
  }
  const Topology& topology = costs_.cluster().links->topology;
  costs_.for_each_way(*subject.members, ways.messages, [&](std::size_t i, const Route& route) {
    for (const Hop& hop : route) {
      const int medium = topology.links()[hop.link].medium;
      ways.hops.push_back({medium, ways.messages[i].share * hop.share / topology.media()[medium]});
    }
    ways.first_hop.push_back(static_cast<int>(ways.hops.size()));
  });
  return ways;
}

}  // namespace moesim
