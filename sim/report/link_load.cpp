#include "sim/report/link_load.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.h"
#include "sim/cluster/cluster_links.h"
#include "sim/engine/uncontended_work.h"
#include "sim/report/port_names.h"
#include "sim/report/topology_summary.h"
#include "sim/report/topology_svg.h"

namespace moesim {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPort = "port";

std::vector<int> first_links(const Topology& topology) {
  std::vector<int> first(topology.media().size(), kNone);
  for (int link = static_cast<int>(topology.links().size()) - 1; link >= 0; --link) {
    first[topology.links()[link].medium] = link;
  }
  return first;
}

// What is carried, whatever the profile says of where its times are spent: a link that is full at a
// measured rate (`bottleneck: LINK`) is busy for longer than its bytes take.
UncontendedWork carried_work(const Program& program, const Cluster& cluster, Profile profile) {
  for (CollectiveCost& entry : profile.collectives) {
    if (entry.bottleneck == BottleneckPlace::kLink) {
      entry.bottleneck = BottleneckPlace::kPrivate;
    }
  }
  return uncontended_work(program, &cluster, &profile);
}

bool spends_on_links(const Profile* profile) {
  return profile != nullptr &&
         std::ranges::any_of(profile->collectives, [](const CollectiveCost& entry) {
           return entry.bottleneck == BottleneckPlace::kLink;
         });
}

// Media that are busy alike and carry alike: their classes in both.
struct MediaAlike {
  int medium = 0;  // the lowest
  int count = 0;
};
using Alike = std::map<std::pair<int, int>, MediaAlike>;

Alike media_alike(const UncontendedWork& busy, const UncontendedWork& carried) {
  Alike alike;
  for (std::size_t medium = 0; medium < busy.class_of_medium.size(); ++medium) {
    const int of_busy = busy.class_of_medium[medium];
    if (of_busy != kNone) {
      const auto [found, is_new] = alike.try_emplace({of_busy, carried.class_of_medium[medium]});
      found->second.medium = is_new ? static_cast<int>(medium) : found->second.medium;
      ++found->second.count;
    }
  }
  return alike;
}

std::vector<LinkLoad::Row> rows_of_links(const UncontendedWork& busy,
                                         const UncontendedWork& carried,
                                         const Topology& topology,
                                         Time iteration) {
  const std::vector<int> first = first_links(topology);
  std::vector<LinkLoad::Row> rows;
  for (const auto& [classes, media] : media_alike(busy, carried)) {
    const Time load = busy.media[classes.first].load;
    const double rate = topology.media()[media.medium];
    rows.push_back({.kind = name(topology.links()[first[media.medium]].kind),
                    .name = link_name(topology, first[media.medium]),
                    .count = media.count,
                    .rate = rate,
                    .bytes = carried.media[classes.second].load.seconds() * rate,
                    .busy_seconds = load.seconds(),
                    .utilisation = ratio(load, iteration)});
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &LinkLoad::Row::utilisation);
  return rows;
}

void add_ports(const UncontendedWork& work,
               int num_ranks,
               Time iteration,
               std::vector<LinkLoad::Row>& rows) {
  for (int port = 0; port < kNumPorts; ++port) {
    if (const Time load = work.port_loads[port]; load > Time::zero()) {
      rows.push_back({.kind = kPort,
                      .name = std::string(kPortNames[port]),
                      .count = num_ranks,
                      .busy_seconds = load.seconds(),
                      .utilisation = ratio(load, iteration)});
    }
  }
}

Json number_or_null(const LinkLoad::Row& row, double number) {
  return row.kind == kPort ? Json() : Json(number);
}

// The one among a node's links that is busiest tells which node to look at: the first of equals.
int busiest_node(const LinkLoad& load, const Topology& topology) {
  int node = 0;
  double most = 0;
  for (const Link& link : topology.links()) {
    for (const int end : {link.from, link.to}) {
      const int at = topology.elements()[end].node;
      if (at != kNone && load.of_medium[link.medium] > most) {
        most = load.of_medium[link.medium];
        node = at;
      }
    }
  }
  return node;
}

std::vector<std::string> caption(const LinkLoad& load) {
  std::vector<std::string> lines;
  const auto add = [&](const LinkLoad::Row& row, const std::string& what) {
    lines.push_back(fmt::format("busiest {}: {}, busy for {:.1f} % of the iteration",
                                what,
                                row.name,
                                100 * row.utilisation));
  };
  const auto is_port = [](const LinkLoad::Row& row) { return row.kind == kPort; };
  if (!load.rows.empty() && !is_port(load.rows.front())) {
    add(load.rows.front(), "link");
  } else {
    lines.emplace_back("no collective crosses a link");
  }
  const auto port = std::ranges::max_element(
      load.rows, {}, [&](const LinkLoad::Row& row) { return is_port(row) ? row.utilisation : -1; });
  if (port != load.rows.end() && is_port(*port)) {
    add(*port, "port (of collectives that the profile has measured)");
  }
  return lines;
}

}  // namespace

LinkLoad make_link_load(const Program& program,
                        const Cluster& cluster,
                        const Profile* profile,
                        Time iteration) {
  CHECK(cluster.links != nullptr);
  const Topology& topology = cluster.links->topology;
  const UncontendedWork work = uncontended_work(program, &cluster, profile);
  LinkLoad load;
  load.title = program.name;
  load.iteration_seconds = iteration.seconds();
  load.of_medium.resize(topology.media().size());
  if (iteration == Time::zero()) {
    return load;
  }
  load.rows =
      spends_on_links(profile)
          ? rows_of_links(work, carried_work(program, cluster, *profile), topology, iteration)
          : rows_of_links(work, work, topology, iteration);
  add_ports(work, program.num_ranks, iteration, load.rows);
  for (std::size_t medium = 0; medium < work.class_of_medium.size(); ++medium) {
    if (const int of = work.class_of_medium[medium]; of != kNone) {
      load.of_medium[medium] = ratio(work.media[of].load, iteration);
    }
  }
  const auto busiest = std::ranges::max_element(work.media, {}, &MediumWork::load);
  if (busiest != work.media.end() && busiest->load > Time::zero()) {
    load.busiest_medium = busiest->medium;
  }
  return load;
}

std::string to_csv(const LinkLoad& load) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "kind,name,count,bytes_per_second,bytes,busy_seconds,utilisation\n");
  for (const LinkLoad::Row& row : load.rows) {
    const bool is_port = row.kind == kPort;
    fmt::format_to(out,
                   "{},{},{},{},{},{},{}\n",
                   row.kind,
                   row.name,
                   row.count,
                   is_port ? "" : fmt::format("{}", row.rate),
                   is_port ? "" : fmt::format("{}", row.bytes),
                   row.busy_seconds,
                   row.utilisation);
  }
  return fmt::to_string(text);
}

std::string to_json(const LinkLoad& load) {
  Json rows = Json::array();
  for (const LinkLoad::Row& row : load.rows) {
    rows.push_back({{"kind", row.kind},
                    {"name", row.name},
                    {"count", row.count},
                    {"bytes_per_second", number_or_null(row, row.rate)},
                    {"bytes", number_or_null(row, row.bytes)},
                    {"busy_seconds", row.busy_seconds},
                    {"utilisation", row.utilisation}});
  }
  const Json json = {
      {"program", load.title}, {"iteration_seconds", load.iteration_seconds}, {"links", rows}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_svg(const LinkLoad& load, const Cluster& cluster) {
  const Topology& topology = cluster.links->topology;
  const Shading shading = {
      .of_medium = &load.of_medium,
      .most = load.busiest_medium == kNone ? 0 : load.of_medium[load.busiest_medium],
      .caption = caption(load)};
  return to_svg(topology,
                fmt::format("{} on {}", load.title, cluster.name),
                busiest_node(load, topology),
                &shading);
}

}  // namespace moesim
