#include "sim/collective/tariff.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "sim/collective/cost_curve.h"
#include "sim/collective/entry_choice.h"
#include "sim/collective/layout_model.h"
#include "sim/collective/port_rates.h"
#include "sim/collective/ring_rate.h"
#include "sim/collective/tariff_maker.h"

namespace moesim {
namespace {

const char* phrase(Span span) {
  switch (span) {
    case Span::kNode:
      return "within a node";
    case Span::kFabric:
      return "between nodes";
    case Span::kBoth:
      return "within and between nodes";
  }
  return "";
}

// Members that sit on one node, or each on its own.
MemberPlace alone_at(Span span, int size) {
  return span == Span::kNode ? MemberPlace{.size = size, .nodes = 1, .on_node = size}
                             : MemberPlace{.size = size, .nodes = size, .on_node = 1};
}

}  // namespace

// The entry for all of a collective's cost, or for its start-up alone.
const CollectiveCost* TariffMaker::find(CollectiveOperation operation, Span span, int size) const {
  return find_entry(profile_,
                    {.operation = operation,
                     .span = span,
                     .size = size,
                     .nodes = place_.nodes,
                     .algorithm = Algorithm::kDefault});
}

// The entry that says what bytes take.
const CollectiveCost* TariffMaker::find_measured(CollectiveOperation operation,
                                                 Span span,
                                                 int size) const {
  return find_entry(profile_,
                    {.operation = operation,
                     .span = span,
                     .size = size,
                     .nodes = place_.nodes,
                     .algorithm = Algorithm::kDefault,
                     .needs_transfer = true});
}

double TariffMaker::startup(const CollectiveCost& entry, int size) const {
  const MemberPlace place = alone_at(entry.span, size);
  return startup_seconds(entry, size, steps_of(entry.operation, Algorithm::kDefault, place));
}

// Nothing but a start-up was measured: links or the port's rate carry the bytes.
PortPrice TariffMaker::from_startup(const CollectiveCost& entry, int size) {
  PortPrice price = from_rate(entry.operation, entry.span, size, false);
  replace_startup(price, entry, startup(entry, size));
  assume_rate_of_port(entry);
  return price;
}

void TariffMaker::assume_rate_of_port(const CollectiveCost& startup) {
  assume("{}: the profile has its start-up alone; the bytes at the rate of the cluster's port",
         describe(startup.operation, startup.span));
}

void TariffMaker::replace_startup(PortPrice& price, const CollectiveCost& entry, double seconds) {
  price.startup_seconds = seconds;
  price.startup_of = &entry;
  price.tree.reset();
  price.peer_bytes_per_second = entry.peer_bytes_per_second;
  tariff_.weight = entry.weight;
}

// A figure of a group of another size, or on other nodes, is carried over by the law of more steps,
// or, where it does not state its layout or that is of another kind, by the share of bytes on the
// wire.
PortPrice TariffMaker::from_entry(const CollectiveCost& entry, int size) {
  if (entry.only_startup) {
    return from_startup(entry, size);
  }
  const int measured = entry.group_size > 1 ? entry.group_size : size;
  tariff_.weight = entry.weight;
  PortPrice price{.used = true,
                  .measured = true,
                  .startup_seconds = startup(entry, size),
                  .startup_of = &entry,
                  .entry = &entry,
                  .measured_size = measured,
                  .bottleneck = entry.bottleneck,
                  .peer_bytes_per_second = entry.peer_bytes_per_second};
  if (measured != size || is_of_other_kind(entry, place_.size, place_.nodes)) {
    carry_over(entry, size, price);
  }
  const double rates = rate_scale(entry);
  price.scale *= rates;
  if (price.tree) {
    price.tree->scale *= rates;
  }
  return price;
}

void TariffMaker::carry_over(const CollectiveCost& entry, int size, PortPrice& price) {
  const std::optional<Layout> layout = layout_of(entry);
  const MemberPlace to = entry.span == Span::kBoth ? place_ : alone_at(entry.span, size);
  if (!layout || is_of_other_kind(entry, to.size, to.nodes)) {
    price.scale =
        wire_share(entry.operation, size) / wire_share(entry.operation, price.measured_size);
    assume("{}: measured in groups of {}, scaled to groups of {} by the share of bytes on the wire",
           describe(entry.operation, entry.span),
           price.measured_size,
           size);
    return;
  }
  const MeasuredLayout from{*layout, &entry};
  const LawTerms steps = more_steps(entry.operation, from, to);
  const double congested = congestion(entry.operation, {to.nodes, to.on_node});
  price.argument = steps.argument;
  price.scale = steps.scale * congested;
  if (may_be_tree(from)) {
    price.tree = deeper_tree(from, to);
    price.tree->scale *= congested;
  }
  assume("{}: measured in groups of {}, taken to groups of {} by the law of more steps",
         describe(entry.operation, entry.span),
         price.measured_size,
         size);
}

double TariffMaker::congestion(CollectiveOperation operation, const Layout& layout) {
  const double times = LayoutModel(profile_, operation, Algorithm::kDefault).congestion(layout);
  if (std::abs(times - 1) > 1e-3) {
    assume(
        "{} on {}: transfers {:.2f} times as long as by the law, as between the node counts "
        "that were measured",
        to_string(operation),
        to_string(layout),
        times);
  }
  return times;
}

// What-if of other links: a transfer takes inversely as long as its port is faster than the one it
// was measured on, start-up times stay [assumed].
double TariffMaker::rate_scale(const CollectiveCost& entry) {
  if (const double ratio = ring_scale(entry); ratio > 0) {
    return ratio;
  }
  if (entry.span == Span::kBoth) {
    return 1;
  }
  const bool inside = entry.span == Span::kNode;
  const double measured =
      (inside ? profile_.intra_node_rate : profile_.inter_node_rate).value_or(0);
  const double present = port_rate(cluster_, entry.span).bytes_per_second;
  return measured > 0 && present > 0 ? scale_of_rates(entry, "on ports of", measured, present) : 1;
}

// The same of a ring, by what it alone has over the links of both clusters; 0 where that is not
// known. A port's rate is that of an AlltoAll, which crosses the links that GPUs share more often.
double TariffMaker::ring_scale(const CollectiveCost& entry) {
  const std::optional<Layout> layout = layout_of(entry);
  if (!(entry.ring_bytes_per_second > 0) || !layout) {
    return 0;
  }
  const Layout here{layout->nodes, std::min(layout->gpus_per_node, cluster_.gpus_per_node)};
  const double present = ring_rate(cluster_, entry.operation, here);
  return present > 0
             ? scale_of_rates(entry, "where a ring has", entry.ring_bytes_per_second, present)
             : 0;
}

double TariffMaker::scale_of_rates(const CollectiveCost& entry,
                                   std::string_view where,
                                   double measured,
                                   double present) {
  if (std::abs(measured / present - 1) < kEqualRates) {
    return 1;
  }
  assume("{}: measured {} {:g} GB/s, transfers scaled to {:g} GB/s",
         describe(entry.operation, entry.span),
         where,
         measured / 1e9,
         present / 1e9);
  return measured / present;
}

// t = steps * latency + share * bytes / rate
PortPrice TariffMaker::from_rate(CollectiveOperation operation, Span span, int size, bool says_so) {
  const std::string name = describe(operation, span);
  const PortRate& rate = stated_port_rate(cluster_, span, profile_, name);
  if (says_so) {
    assume("{}: not in the profile; rate and latency of the cluster's port, latency once per step",
           name);
  }
  const MemberPlace place{.size = size};
  const int steps = steps_of(operation, Algorithm::kDefault, place).total();
  return {.used = true,
          .startup_seconds = steps * rate.latency_seconds,
          .seconds_per_byte = 1 / rate.bytes_per_second,
          .scale = wire_share(operation, size)};
}

bool TariffMaker::are_lines(const CollectiveCost* scatter, const CollectiveCost* gather) {
  return scatter != nullptr && gather != nullptr && scatter->points.empty() &&
         gather->points.empty();
}

// An AllReduce without a figure of its own is a ReduceScatter of the buffer and an AllGather of it,
// where both have a fitted line: their times add up.
PortPrice TariffMaker::sum_of_halves(Span span, const PortPrice& scatter, const PortPrice& gather) {
  PortPrice sum{.used = true, .measured = true, .bottleneck = BottleneckPlace::kPrivate};
  for (const PortPrice* part : {&scatter, &gather}) {
    if (part->bottleneck != BottleneckPlace::kPrivate) {
      sum.bottleneck = BottleneckPlace::kPort;  // a stand-in's links are not the whole's
    }
    sum.startup_seconds += part->startup_seconds;
    sum.seconds_per_byte += part->seconds(1);
  }
  assume("{}: not in the profile; taken as its REDUCE_SCATTER and ALL_GATHER",
         describe(CollectiveOperation::kAllReduce, span));
  return sum;
}

PortPrice TariffMaker::price(CollectiveOperation operation, Span span, int size) {
  if (const CollectiveCost* entry = find(operation, span, size)) {
    return from_entry(*entry, size);
  }
  const CollectiveCost* scatter = find_measured(CollectiveOperation::kReduceScatter, span, size);
  const CollectiveCost* gather = find_measured(CollectiveOperation::kAllGather, span, size);
  if (operation == CollectiveOperation::kAllReduce && are_lines(scatter, gather)) {
    return sum_of_halves(span, from_entry(*scatter, size), from_entry(*gather, size));
  }
  return from_rate(operation, span, size);
}

LawTime PortPrice::time(double bytes) const {
  const auto transfer = [&](double nominal) {
    return entry != nullptr ? transfer_seconds(*entry, nominal, measured_size)
                            : seconds_per_byte * nominal;
  };
  const LawTime usual{startup_seconds, scale * transfer(argument * bytes)};
  if (!tree) {
    return usual;
  }
  const LawTime deeper{tree->startup, tree->scale * transfer(tree->argument * bytes)};
  return deeper.seconds() < usual.seconds() ? deeper : usual;
}

bool PortPrice::extrapolates(double bytes) const {
  return entry != nullptr && !entry->points.empty() &&
         moesim::extrapolates(entry->points, argument * bytes);
}

Tariff make_tariff(const Profile& profile,
                   const Cluster& cluster,
                   CollectiveOperation operation,
                   const MemberPlace& place) {
  return TariffMaker(profile, cluster, place).make(operation);
}

std::string describe(CollectiveOperation operation, Span span) {
  return fmt::format("{} {}", to_string(operation), phrase(span));
}

}  // namespace moesim
