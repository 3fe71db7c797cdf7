// The tariff of a collective over nodes and several GPUs on each.
#include <algorithm>

#include "sim/collective/cost_curve.h"
#include "sim/collective/entry_choice.h"
#include "sim/collective/port_rates.h"
#include "sim/collective/tariff_maker.h"

namespace moesim {
namespace {

constexpr auto kAllReduce = CollectiveOperation::kAllReduce;
constexpr auto kAllToAll = CollectiveOperation::kAllToAll;
constexpr auto kAllGather = CollectiveOperation::kAllGather;
constexpr auto kReduceScatter = CollectiveOperation::kReduceScatter;

}  // namespace

// A figure of its own, of as many GPUs on each node; else what its levels take, of which the
// profile may lack one. Of an AlltoAll that it lacks one of, less is known.
void TariffMaker::make_over_both(CollectiveOperation operation) {
  const CollectiveCost* own = find(operation, Span::kBoth, place_.size);
  const bool is_whole = own != nullptr && !own->only_startup;
  const bool has_levels = find_measured(operation, Span::kNode, place_.on_node) != nullptr &&
                          find_measured(operation, Span::kFabric, place_.nodes) != nullptr;
  if (is_whole && !(has_levels && is_of_other_kind(*own, place_.size, place_.nodes))) {
    tariff_.intra = tariff_.inter = from_entry(*own, place_.size);
    assume("{}: nothing says which port its time is spent on; it loads both all the time",
           describe(operation, Span::kBoth));
    return;
  }
  if (operation == kAllToAll && !has_levels) {
    make_all_to_all_over_both();
  } else {
    make_of_levels(operation);
  }
  if (own != nullptr && own->only_startup) {
    const Steps steps = steps_of(operation, Algorithm::kDefault, place_);
    replace_startup(tariff_.inter, *own, startup_seconds(*own, place_.size, steps));
  }
}

// By the law that single collectives are predicted by (`composed`): one start-up, then both ports
// at once.
void TariffMaker::make_of_levels(CollectiveOperation operation) {
  const LevelParts parts = level_parts(operation, place_);
  PortPrice& intra = tariff_.intra;
  PortPrice& inter = tariff_.inter;
  const bool is_known = find(operation, Span::kNode, place_.on_node) != nullptr ||
                        cluster_.intra_node.bytes_per_second > 0;
  if (place_.on_node > 1 && is_known) {
    intra = price_of_level(operation, Span::kNode, parts.inside);
  }
  inter = price_of_level(operation, Span::kFabric, parts.between);
  inter.startup_seconds = parts.at_once ? std::max(inter.startup_seconds, intra.startup_seconds)
                                        : inter.startup_seconds + intra.startup_seconds;
  intra.startup_seconds = 0;
  assume("{}: not in the profile; taken from what it takes within a node and between nodes{}",
         describe(operation, Span::kBoth),
         is_known ? "" : ", of which the first is not known and counts as nothing");
}

PortPrice TariffMaker::price_of_level(CollectiveOperation operation,
                                      Span span,
                                      const LevelPart& part) {
  const int size = span == Span::kNode ? place_.on_node : place_.nodes;
  if (const CollectiveCost* entry = find_measured(operation, span, size)) {
    return entry_of_level(*entry, size, part);
  }
  const CollectiveCost* scatter = find_measured(kReduceScatter, span, size);
  const CollectiveCost* gather = find_measured(kAllGather, span, size);
  if (operation == kAllReduce && are_lines(scatter, gather)) {
    const LevelPart half{.hops = part.hops, .share = part.share / 2};
    return sum_of_halves(
        span, entry_of_level(*scatter, size, half), entry_of_level(*gather, size, half));
  }
  const CollectiveCost* startup = find(operation, span, size);
  PortPrice price = from_rate(operation, span, size, startup == nullptr);
  const int walks = operation == kAllReduce ? 2 : 1;
  price.startup_seconds = walks * part.hops * port_rate(cluster_, span).latency_seconds;
  price.scale = part.share;
  if (startup != nullptr) {
    replace_startup(price, *startup, startup_of(part, *startup));
    assume_rate_of_port(*startup);
  }
  return price;
}

// The transfer of the measured collective that has as many bytes on its wire.
PortPrice TariffMaker::entry_of_level(const CollectiveCost& entry,
                                      int size,
                                      const LevelPart& part) {
  const int measured = entry.group_size > 1 ? entry.group_size : size;
  if (measured != size) {
    assume("{}: measured in groups of {}, here of {}: at as many bytes on the wire",
           describe(entry.operation, entry.span),
           measured,
           size);
  }
  const double congested =
      entry.span == Span::kFabric ? congestion(entry.operation, {place_.nodes, 1}) : 1;
  tariff_.weight = entry.weight;
  return {.used = true,
          .measured = true,
          .startup_seconds = startup_of(part, entry),
          .startup_of = &entry,
          .entry = &entry,
          .measured_size = measured,
          .argument = part.share / wire_share(entry.operation, measured),
          .scale = rate_scale(entry) * congested,
          .bottleneck = entry.bottleneck,
          .peer_bytes_per_second = entry.peer_bytes_per_second};
}

// An AlltoAll over n ranks, g of them on this rank's node, of b bytes, of which the profile lacks a
// level: the share (n-g)/n crosses the inter-node port at the figures of an AlltoAll between nodes
// and with its start-up, at the same time (g-1)/n the intra-node port [assumed: Parm's S1 and S2 on
// FSMoE's testbeds, which no published fit covers].
void TariffMaker::make_all_to_all_over_both() {
  const LevelParts parts = level_parts(kAllToAll, place_);
  std::string inside = "nothing";
  if (place_.on_node > 1) {
    tariff_.intra = intra_part_of_all_to_all(parts.inside);
    inside = tariff_.intra.entry != nullptr ? describe(tariff_.intra.entry->operation, Span::kNode)
                                            : describe(kAllToAll, Span::kNode);
  }
  PortPrice& inter = tariff_.inter = price_of_level(kAllToAll, Span::kFabric, parts.between);
  inter.startup_seconds = inter.startup_of != nullptr
                              ? startup(*inter.startup_of, place_.size)
                              : (place_.size - 1) * cluster_.inter_node.latency_seconds;
  assume("{}: not in the profile; its share between nodes as {}, at once that within as {}",
         describe(kAllToAll, Span::kBoth),
         describe(kAllToAll, Span::kFabric),
         inside);
}

// Of b bytes, b/n for each rank, a GPU sends b/n to each of the g-1 others of its node: (g-1)/n b
// pass its port. An AllGather's bytes are those of its output (docs/model.md): of a bytes a/g stay
// where they are, and (g-1)/g a pass the port. As many do where a = (g-1)/n b / ((g-1)/g) = g/n b,
// which is also the AlltoAll that the node's own AlltoAll would be: what is addressed to the node.
// Without a figure of the latter an AllGather of g/n b stands in for it.
PortPrice TariffMaker::intra_part_of_all_to_all(const LevelPart& part) {
  const CollectiveCost* own = find(kAllToAll, Span::kNode, place_.on_node);
  const CollectiveCost* gather = find_measured(kAllGather, Span::kNode, place_.on_node);
  PortPrice inside = own == nullptr && gather != nullptr
                         ? entry_of_level(*gather, place_.on_node, part)
                         : price_of_level(kAllToAll, Span::kNode, part);
  inside.startup_seconds = 0;  // paid once, between nodes
  return inside;
}

}  // namespace moesim
