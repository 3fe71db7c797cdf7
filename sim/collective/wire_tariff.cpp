#include "sim/collective/wire_tariff.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "sim/collective/cost_curve.h"
#include "sim/collective/entry_choice.h"
#include "sim/collective/port_rates.h"

namespace moesim {
namespace {

// Builds the tariff of one operation and algorithm at one place.
class WireTariffMaker {
 public:
  WireTariffMaker(const Profile& profile,
                  const Cluster& cluster,
                  const EntryQuery& query,
                  const MemberPlace& place)
      : profile_(profile),
        cluster_(cluster),
        query_(query),
        place_(place),
        steps_(steps_of(query.operation, *query.algorithm, place)) {}

  Tariff make() {
    const CollectiveCost* own = find(place_.span());
    if (own != nullptr && !own->only_startup) {
      use_measured(*own);
    } else {
      use_wire(own);
    }
    return std::move(tariff_);
  }

 private:
  // Of so many members as a group has on that level.
  EntryQuery query_of(Span span) const {
    EntryQuery query = query_;
    query.span = span;
    query.size = span == Span::kNode     ? place_.on_node
                 : span == Span::kFabric ? place_.nodes
                                         : place_.size;
    return query;
  }

  const CollectiveCost* find(Span span) const { return find_entry(profile_, query_of(span)); }

  void use_measured(const CollectiveCost& entry);
  void use_wire(const CollectiveCost* own);
  PortPrice of_rate(Span span) const;
  double level_startup(Span span, int steps);
  const CollectiveCost* measured_with_another(Span span) const;
  double startup(const CollectiveCost& entry, int steps) const;

  const Profile& profile_;
  const Cluster& cluster_;
  EntryQuery query_;
  MemberPlace place_;
  Steps steps_;
  const CollectiveCost* borrowed_ = nullptr;  // whose start-up a level has
  Tariff tariff_;
};

void WireTariffMaker::use_measured(const CollectiveCost& entry) {
  const int measured = entry.group_size > 1 ? entry.group_size : place_.size;
  if (measured != place_.size) {
    tariff_.assumptions.push_back(
        fmt::format("{} with {}: measured in groups of {}, scaled to groups of {} by the share of "
                    "bytes on the wire",
                    describe(entry.operation, entry.span),
                    to_string(entry.algorithm),
                    measured,
                    place_.size));
  }
  const PortPrice price{
      .used = true,
      .measured = true,
      .startup_seconds = startup(entry, steps_.total()),
      .startup_of = &entry,
      .entry = &entry,
      .measured_size = measured,
      .scale = wire_share(entry.operation, place_.size) / wire_share(entry.operation, measured),
      .bottleneck = entry.bottleneck,
      .peer_bytes_per_second = entry.peer_bytes_per_second};
  tariff_.weight = entry.weight;
  if (entry.span != Span::kFabric) {
    tariff_.intra = price;
  }
  if (entry.span != Span::kNode) {
    tariff_.inter = price;
  }
}

double WireTariffMaker::startup(const CollectiveCost& entry, int steps) const {
  return entry.startup_per == StartupPer::kTask ? entry.startup_seconds
                                                : entry.startup_seconds * steps;
}

PortPrice WireTariffMaker::of_rate(Span span) const {
  const std::string name =
      fmt::format("{} with {}", describe(query_.operation, span), to_string(*query_.algorithm));
  const PortRate& rate = stated_port_rate(cluster_, span, profile_, name);
  return {.used = true, .seconds_per_byte = 1 / rate.bytes_per_second};
}

// Of the steps within nodes or between them.
double WireTariffMaker::level_startup(Span span, int steps) {
  const CollectiveCost* entry = find(span);
  const bool has_own = entry != nullptr && entry->only_startup;
  PortPrice& price = span == Span::kNode ? tariff_.intra : tariff_.inter;
  if (has_own) {
    tariff_.weight = entry->weight;
    price.peer_bytes_per_second = entry->peer_bytes_per_second;
  }
  if (steps == 0 || has_own) {
    return steps == 0 ? 0 : startup(*entry, steps);
  }
  if (const CollectiveCost* other = measured_with_another(span)) {
    borrowed_ = other;
    return steps * step_startup(*other, place_);
  }
  return steps * port_rate(cluster_, span).latency_seconds;
}

// Whose start-up stands in: that of the same members, else that of the level.
const CollectiveCost* WireTariffMaker::measured_with_another(Span span) const {
  for (const Span of : {place_.span(), span}) {
    EntryQuery query = query_of(of);
    query.algorithm = {};
    query.needs_transfer = true;
    const CollectiveCost* other = find_entry(profile_, query);
    if (other != nullptr) {
      return other;
    }
  }
  return nullptr;
}

// Start-ups of both levels follow each other, but for those of PIPE.
void WireTariffMaker::use_wire(const CollectiveCost* own) {
  if (place_.on_node > 1) {
    tariff_.intra = of_rate(Span::kNode);
  }
  if (place_.nodes > 1) {
    tariff_.inter = of_rate(Span::kFabric);
  }
  const double within = level_startup(Span::kNode, steps_.within);
  const double between = level_startup(Span::kFabric, steps_.between);
  double seconds = steps_.at_once ? std::max(within, between) : within + between;
  if (own != nullptr) {
    const int steps = steps_.at_once ? std::max(steps_.within, steps_.between) : steps_.total();
    seconds = startup(*own, steps);
    tariff_.weight = own->weight;
    tariff_.intra.peer_bytes_per_second = tariff_.inter.peer_bytes_per_second =
        own->peer_bytes_per_second;
  }
  (tariff_.inter.used ? tariff_.inter : tariff_.intra).startup_seconds = seconds;
  const std::string rates =
      own != nullptr ? "the profile has its start-up alone; rate of the cluster's ports"
      : borrowed_ != nullptr
          ? fmt::format(
                "not in the profile; rate of the cluster's ports, start-up of a step that "
                "of {} with {}",
                describe(query_.operation, borrowed_->span),
                to_string(resolved(query_.operation, borrowed_->algorithm)))
          : "not in the profile; rate and latency of the cluster's ports";
  tariff_.assumptions.push_back(fmt::format("{} with {}: {}",
                                            describe(query_.operation, place_.span()),
                                            to_string(*query_.algorithm),
                                            rates));
}

}  // namespace

Tariff make_wire_tariff(const Profile& profile,
                        const Cluster& cluster,
                        CollectiveOperation operation,
                        Algorithm algorithm,
                        const MemberPlace& place) {
  return WireTariffMaker(profile,
                         cluster,
                         {.operation = operation, .nodes = place.nodes, .algorithm = algorithm},
                         place)
      .make();
}

}  // namespace moesim
