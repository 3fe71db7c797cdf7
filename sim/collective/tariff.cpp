#include "sim/collective/tariff.h"

#include <optional>
#include <utility>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/collective/cost_curve.h"
#include "sim/collective/entry_choice.h"

namespace moesim {
namespace {

constexpr auto kAllToAll = CollectiveOperation::kAllToAll;
constexpr auto kAllGather = CollectiveOperation::kAllGather;

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

// Builds the tariff of one operation at one place.
class TariffMaker {
 public:
  TariffMaker(const Profile& profile, const Cluster& cluster, const MemberPlace& place)
      : profile_(profile), cluster_(cluster), place_(place) {}

  Tariff make(CollectiveOperation operation) {
    if (operation == CollectiveOperation::kShift) {
      make_shift();
    } else if (place_.span() == Span::kNode) {
      tariff_.intra = price(operation, Span::kNode, place_.size);
    } else if (place_.span() == Span::kFabric) {
      tariff_.inter = price(operation, Span::kFabric, place_.size);
    } else {
      make_over_both(operation);
    }
    return std::move(tariff_);
  }

 private:
  void make_over_both(CollectiveOperation operation);
  void make_all_to_all_over_both();
  PortPrice intra_part_of_all_to_all();
  void make_shift();
  PortPrice shift_step_between_nodes();
  PortPrice shift_step_within_node();
  PortPrice price(CollectiveOperation operation, Span span, int size);
  std::optional<PortPrice> all_reduce_from_halves(Span span, int size);
  PortPrice from_entry(const CollectiveCost& entry, int size);
  double rate_scale(const CollectiveCost& entry);
  PortPrice from_rate(CollectiveOperation operation, Span span, int size, bool says_so = true);
  const CollectiveCost* find(CollectiveOperation operation, Span span, int size) const;
  const CollectiveCost* find_measured(CollectiveOperation operation, Span span, int size) const;
  PortPrice from_startup(const CollectiveCost& entry, int size);
  double startup(const CollectiveCost& entry, int size) const;
  void replace_startup(PortPrice& price, const CollectiveCost& entry, double seconds);

  template <typename... Values>
  void assume(fmt::format_string<Values...> text, Values&&... values) {
    tariff_.assumptions.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const Profile& profile_;
  const Cluster& cluster_;
  MemberPlace place_;
  Tariff tariff_;
};

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
  const MemberPlace place{.size = size,
                          .nodes = entry.span == Span::kNode ? 1 : size,
                          .on_node = entry.span == Span::kNode ? size : 1};
  return startup_seconds(entry, size, steps_of(entry.operation, Algorithm::kDefault, place));
}

// Nothing but a start-up was measured: links or the port's rate carry the bytes.
PortPrice TariffMaker::from_startup(const CollectiveCost& entry, int size) {
  PortPrice price = from_rate(entry.operation, entry.span, size, false);
  replace_startup(price, entry, startup(entry, size));
  assume("{}: the profile has its start-up alone; the bytes at the rate of the cluster's port",
         describe(entry.operation, entry.span));
  return price;
}

void TariffMaker::replace_startup(PortPrice& price, const CollectiveCost& entry, double seconds) {
  price.startup_seconds = seconds;
  price.startup_of = &entry;
  price.peer_bytes_per_second = entry.peer_bytes_per_second;
  tariff_.weight = entry.weight;
}

PortPrice TariffMaker::from_entry(const CollectiveCost& entry, int size) {
  if (entry.only_startup) {
    return from_startup(entry, size);
  }
  const int measured = entry.group_size > 1 ? entry.group_size : size;
  if (measured != size) {
    assume("{}: measured in groups of {}, scaled to groups of {} by the share of bytes on the wire",
           describe(entry.operation, entry.span),
           measured,
           size);
  }
  tariff_.weight = entry.weight;
  const double size_scale =
      measured == size ? 1
                       : wire_share(entry.operation, size) / wire_share(entry.operation, measured);
  return {.used = true,
          .measured = true,
          .startup_seconds = startup(entry, size),
          .startup_of = &entry,
          .entry = &entry,
          .measured_size = measured,
          .scale = size_scale * rate_scale(entry),
          .bottleneck = entry.bottleneck,
          .peer_bytes_per_second = entry.peer_bytes_per_second};
}

// What-if of other links: a transfer takes inversely as long as its port is faster than the one it
// was measured on, start-up times stay [assumed]. Rates are equal to the six digits that are told.
double TariffMaker::rate_scale(const CollectiveCost& entry) {
  if (entry.span == Span::kBoth) {
    return 1;
  }
  const bool inside = entry.span == Span::kNode;
  const double measured =
      (inside ? profile_.intra_node_rate : profile_.inter_node_rate).value_or(0);
  const double present = (inside ? cluster_.intra_node : cluster_.inter_node).bytes_per_second;
  if (measured <= 0 || present <= 0 || std::abs(measured / present - 1) < 1e-6) {
    return 1;
  }
  assume("{}: measured on ports of {}, transfers scaled to {}",
         describe(entry.operation, entry.span),
         fmt::format("{:g} GB/s", measured / 1e9),
         fmt::format("{:g} GB/s", present / 1e9));
  return measured / present;
}

// t = steps * latency + share * bytes / rate
PortPrice TariffMaker::from_rate(CollectiveOperation operation, Span span, int size, bool says_so) {
  const PortRate& rate = span == Span::kNode ? cluster_.intra_node : cluster_.inter_node;
  const std::string name = describe(operation, span);
  if (!(rate.bytes_per_second > 0)) {
    throw Error(
        fmt::format("profile '{}' has no figure for {} and cluster '{}' states no rate of "
                    "that port; give one of them",
                    visible_in_line(profile_.name),
                    name,
                    visible_in_line(cluster_.name)));
  }
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

// An AllReduce without a figure of its own is a ReduceScatter of the buffer and an AllGather of it,
// where both have a fitted line: their times add up.
std::optional<PortPrice> TariffMaker::all_reduce_from_halves(Span span, int size) {
  const CollectiveCost* scatter = find_measured(CollectiveOperation::kReduceScatter, span, size);
  const CollectiveCost* gather = find_measured(kAllGather, span, size);
  const bool lines =
      scatter != nullptr && gather != nullptr && scatter->points.empty() && gather->points.empty();
  if (!lines) {
    return std::nullopt;
  }
  PortPrice sum{.used = true, .measured = true, .bottleneck = BottleneckPlace::kPrivate};
  for (const CollectiveCost* half : {scatter, gather}) {
    const PortPrice part = from_entry(*half, size);
    if (part.bottleneck != BottleneckPlace::kPrivate) {
      sum.bottleneck = BottleneckPlace::kPort;  // a stand-in's links are not the whole's
    }
    sum.startup_seconds += part.startup_seconds;
    sum.seconds_per_byte += part.scale * half->seconds_per_byte;
  }
  assume("{}: not in the profile; taken as its REDUCE_SCATTER and ALL_GATHER",
         describe(CollectiveOperation::kAllReduce, span));
  return sum;
}

PortPrice TariffMaker::price(CollectiveOperation operation, Span span, int size) {
  if (const CollectiveCost* entry = find(operation, span, size)) {
    return from_entry(*entry, size);
  }
  if (operation == CollectiveOperation::kAllReduce) {
    if (const auto halves = all_reduce_from_halves(span, size)) {
      return *halves;
    }
  }
  return from_rate(operation, span, size);
}

void TariffMaker::make_over_both(CollectiveOperation operation) {
  const CollectiveCost* own = find(operation, Span::kBoth, place_.size);
  if (own != nullptr && !own->only_startup) {
    tariff_.intra = tariff_.inter = from_entry(*own, place_.size);
    assume("{}: nothing says which port its time is spent on; it loads both all the time",
           describe(operation, Span::kBoth));
    return;
  }
  if (operation == kAllToAll) {
    make_all_to_all_over_both();
  } else {
    tariff_.inter = price(operation, Span::kFabric, place_.nodes);
    assume("{}: not in the profile; taken as between its {} nodes, on the inter-node port",
           describe(operation, Span::kBoth),
           place_.nodes);
  }
  if (own != nullptr) {
    const Steps steps = steps_of(operation, Algorithm::kDefault, place_);
    replace_startup(tariff_.inter, *own, startup_seconds(*own, place_.size, steps));
  }
}

// An AlltoAll over n ranks, g of them on this rank's node, without a figure of its own: the share
// (n-g)/n crosses the inter-node port at the figures of an AlltoAll between nodes; at the same time
// (g-1)/n crosses the intra-node port, at those of an AlltoAll within a node or else of an
// AllGather [assumed: Parm's S1 and S2 on FSMoE's testbeds, which no published fit covers].
void TariffMaker::make_all_to_all_over_both() {
  const double size = place_.size;
  std::string inside = "nothing";
  if (place_.on_node > 1) {
    tariff_.intra = intra_part_of_all_to_all();
    inside = tariff_.intra.entry != nullptr ? describe(tariff_.intra.entry->operation, Span::kNode)
                                            : describe(kAllToAll, Span::kNode);
  }
  PortPrice& inter = tariff_.inter = price(kAllToAll, Span::kFabric, place_.nodes);
  const double inter_share = (size - place_.on_node) / size;
  inter.startup_seconds = inter.startup_of != nullptr
                              ? startup(*inter.startup_of, place_.size)
                              : (size - 1) * cluster_.inter_node.latency_seconds;
  inter.scale = inter_share;
  if (inter.entry != nullptr) {
    inter.scale =
        inter_share / wire_share(kAllToAll, inter.measured_size) * rate_scale(*inter.entry);
  }
  assume("{}: not in the profile; its share between nodes as {}, at once that within as {}",
         describe(kAllToAll, Span::kBoth),
         describe(kAllToAll, Span::kFabric),
         inside);
}

// Of an AlltoAll within the node the buffer is the g/n addressed to it; an AllGather stands in with
// the bytes that move, (g-1)/n.
PortPrice TariffMaker::intra_part_of_all_to_all() {
  const double size = place_.size;
  const CollectiveCost* entry = find(kAllToAll, Span::kNode, place_.on_node);
  const CollectiveCost* gather = find_measured(kAllGather, Span::kNode, place_.on_node);
  PortPrice part;
  if (entry == nullptr && gather != nullptr) {
    part = from_entry(*gather, place_.on_node);
    part.argument = (place_.on_node - 1) / size;
  } else {
    part = price(kAllToAll, Span::kNode, place_.on_node);
    part.argument = place_.on_node / size;
  }
  part.startup_seconds = 0;  // paid once, between nodes
  return part;
}

void TariffMaker::make_shift() {
  const auto shift = CollectiveOperation::kShift;
  const CollectiveCost* both =
      place_.span() == Span::kBoth ? find(shift, Span::kBoth, place_.size) : nullptr;
  if (both != nullptr && !both->only_startup) {
    tariff_.intra = tariff_.inter = from_entry(*both, place_.size);
    return;
  }
  if (place_.on_node > 1) {
    const CollectiveCost* own = find(shift, Span::kNode, place_.size);
    tariff_.intra = own != nullptr ? from_entry(*own, place_.size) : shift_step_within_node();
  }
  if (place_.nodes > 1) {
    const CollectiveCost* own = find(shift, Span::kFabric, place_.size);
    tariff_.inter = own != nullptr ? from_entry(*own, place_.size) : shift_step_between_nodes();
  }
  if (both != nullptr) {
    replace_startup(tariff_.intra, *both, startup_seconds(*both, place_.size, {.between = 1}));
    replace_startup(tariff_.inter, *both, startup_seconds(*both, place_.size, {.between = 1}));
  }
}

// A SHIFT of b bytes without a figure of its own is one of the n-1 steps of an AlltoAll over the
// group: start-up alpha / (n-1), transfer that of b bytes on the wire, beta * b / share
// [assumed: Parm's overlapped kernel].
PortPrice TariffMaker::shift_step_between_nodes() {
  const CollectiveCost* entry = find_measured(kAllToAll, Span::kFabric, place_.nodes);
  if (entry == nullptr) {
    return from_rate(CollectiveOperation::kShift, Span::kFabric, place_.size);
  }
  PortPrice step = from_entry(*entry, place_.nodes);
  step.startup_seconds = startup_seconds(*entry, place_.size) / (place_.size - 1);
  step.argument = place_.size;
  step.scale = 1 / (place_.size * wire_share(kAllToAll, step.measured_size));
  assume("{}: not in the profile; one step of an {}",
         describe(CollectiveOperation::kShift, Span::kFabric),
         describe(kAllToAll, Span::kFabric));
  return step;
}

// The same within a node. In a group over several nodes the kernel, and so its start-up, is that of
// the AlltoAll between nodes, and without an AlltoAll within a node the AllGather's figures stand
// in as they do for the whole AlltoAll.
PortPrice TariffMaker::shift_step_within_node() {
  const auto shift = CollectiveOperation::kShift;
  const CollectiveCost* fabric =
      place_.nodes > 1 ? find_measured(kAllToAll, Span::kFabric, place_.nodes) : nullptr;
  const CollectiveCost* inside = find_measured(kAllToAll, Span::kNode, place_.on_node);
  const CollectiveCost* gather =
      place_.nodes > 1 ? find_measured(kAllGather, Span::kNode, place_.on_node) : nullptr;
  PortPrice step;
  if (inside != nullptr) {
    step = from_entry(*inside, place_.on_node);
    step.argument = place_.on_node;
    step.scale = 1 / (place_.on_node * wire_share(kAllToAll, step.measured_size));
  } else if (gather != nullptr) {
    step = from_entry(*gather, place_.on_node);
  } else {
    step = from_rate(shift, Span::kNode, place_.size);
  }
  if (const CollectiveCost* kernel = fabric != nullptr ? fabric : inside) {
    step.startup_seconds = startup_seconds(*kernel, place_.size) / (place_.size - 1);
  }
  if (step.entry != nullptr) {
    assume("{}: not in the profile; one step of an ALL_TO_ALL at the figures of {}",
           describe(shift, Span::kNode),
           describe(step.entry->operation, Span::kNode));
  }
  return step;
}

}  // namespace

double PortPrice::seconds(double bytes) const {
  const double transfer = entry != nullptr
                              ? transfer_seconds(*entry, argument * bytes, measured_size)
                              : seconds_per_byte * (argument * bytes);
  return scale * transfer;
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
