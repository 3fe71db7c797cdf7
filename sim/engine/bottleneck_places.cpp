#include "sim/engine/bottleneck_places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "sim/cluster/cluster_links.h"
#include "sim/engine/task_cost.h"

namespace moesim {
namespace {

// A kind of parts, and the level of a switch.
using PartKind = std::pair<ElementKind, int>;
using LinkOf = std::pair<PartKind, PartKind>;  // ascending
using LinkKinds = std::set<LinkOf>;

PartKind kind_of(const Element& element) {
  return {element.kind, element.kind == ElementKind::kSwitch ? element.level : 0};
}

std::string selector(const PartKind& part) {
  return part.first == ElementKind::kSwitch ? fmt::format("switch:{}/*", part.second)
                                            : fmt::format("node:*/{}:*", name(part.first));
}

std::vector<LinkOf> kinds_of_media(const Topology& topology) {
  std::vector<LinkOf> kinds(topology.media().size());
  for (const Link& link : topology.links()) {
    const PartKind from = kind_of(topology.elements()[link.from]);
    const PartKind to = kind_of(topology.elements()[link.to]);
    kinds[link.medium] = std::minmax(from, to);
  }
  return kinds;
}

LinkKinds crossed(const GroupLoads& loads, const std::vector<LinkOf>& kinds) {
  LinkKinds found;
  for (const std::vector<MediumLoad>& instance : loads.of_instance) {
    for (const MediumLoad& load : instance) {
      if (load.seconds > 0) {
        found.insert(kinds[load.medium]);
      }
    }
  }
  return found;
}

// What a span's measured times can be spent on, as far as is known.
struct Found {
  std::optional<LinkKinds> links;  // absent: no time can be spent on links

  void keep(const LinkKinds& also) {
    if (!links) {
      links = also;
    }
    std::erase_if(*links, [&](const LinkOf& link) { return !also.contains(link); });
  }
};

// Goes through a Program's collectives: those that load links alike once.
class Search {
 public:
  Search(const Cluster& cluster, const Profile& profile) : cluster_(cluster), profile_(profile) {
    if (cluster.links != nullptr) {
      kinds_ = kinds_of_media(cluster.links->topology);
    }
  }

  void look_at(const Program& program) {
    const TaskCosts costs(program, &cluster_, &profile_);
    std::set<CollectiveCosts::LinkKey> seen;
    for (const Task& task : program.tasks) {
      if (!std::holds_alternative<Collective>(task.descriptor)) {
        continue;
      }
      for (int phase = 0; phase < costs.num_phases(task); ++phase) {
        if (seen.insert(costs.link_key(task, phase)).second) {
          look_at(costs, task, phase);
        }
      }
    }
  }

  const std::map<Span, Found>& found() const { return found_; }

 private:
  void look_at(const TaskCosts& costs, const Task& task, int phase) {
    for (const CollectiveCosts::MeasuredPart& part : costs.measured_parts(task, phase)) {
      Found& found = found_[part.span];
      if (part.may_be_on_links) {
        found.keep(crossed(*costs.link_loads(task, phase), kinds_));
      }
    }
  }

  const Cluster& cluster_;
  const Profile& profile_;
  std::vector<LinkOf> kinds_;  // by medium
  std::map<Span, Found> found_;
};

bool is_measured(const CollectiveCost& entry) {
  return !entry.only_startup;
}

const BottleneckChoice* choice_for(const CollectiveCost& entry,
                                   const BottleneckPlacement& placement) {
  const auto span = std::ranges::find(placement.spans, entry.span);
  return is_measured(entry) && span != placement.spans.end()
             ? &placement.choices[span - placement.spans.begin()]
             : nullptr;
}

}  // namespace

std::vector<BottleneckChoices> bottleneck_choices(const std::vector<const Program*>& programs,
                                                  const Cluster& cluster,
                                                  const Profile& profile) {
  Search search(cluster, profile);
  for (const Program* program : programs) {
    search.look_at(*program);
  }
  std::vector<BottleneckChoices> all;
  for (const auto& [span, found] : search.found()) {
    BottleneckChoices& of_span = all.emplace_back();
    of_span.span = span;
    of_span.choices = {{BottleneckPlace::kPort}, {BottleneckPlace::kPrivate}};
    for (const auto& [from, to] : found.links.value_or(LinkKinds{})) {
      of_span.choices.push_back(
          {BottleneckPlace::kLink, fmt::format("{} -- {}", selector(from), selector(to))});
    }
  }
  return all;
}

std::vector<BottleneckPlacement> bottleneck_placements(
    const std::vector<BottleneckChoices>& choices) {
  std::vector<BottleneckPlacement> all{{}};
  for (const BottleneckChoices& of_span : choices) {
    std::vector<BottleneckPlacement> longer;
    for (const BottleneckPlacement& shorter : all) {
      for (const BottleneckChoice& choice : of_span.choices) {
        BottleneckPlacement& placement = longer.emplace_back(shorter);
        placement.spans.push_back(of_span.span);
        placement.choices.push_back(choice);
      }
    }
    all = std::move(longer);
  }
  return all;
}

Profile placed(Profile profile, const BottleneckPlacement& placement) {
  for (CollectiveCost& entry : profile.collectives) {
    if (const BottleneckChoice* choice = choice_for(entry, placement)) {
      entry.bottleneck = choice->place;
      entry.bottleneck_link = choice->link;
    }
  }
  return profile;
}

bool is_placed(const Profile& profile, const BottleneckPlacement& placement) {
  return std::ranges::all_of(profile.collectives, [&](const CollectiveCost& entry) {
    const BottleneckChoice* choice = choice_for(entry, placement);
    return choice == nullptr ||
           *choice == BottleneckChoice{entry.bottleneck, entry.bottleneck_link};
  });
}

}  // namespace moesim
