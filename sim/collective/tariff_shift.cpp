// A SHIFT's tariff.
#include "sim/collective/cost_curve.h"
#include "sim/collective/entry_choice.h"
#include "sim/collective/tariff_maker.h"

namespace moesim {
namespace {

constexpr auto kAllToAll = CollectiveOperation::kAllToAll;
constexpr auto kAllGather = CollectiveOperation::kAllGather;

}  // namespace

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

// A SHIFT of b bytes without a figure of its own is one message of an AlltoAll of n*b bytes over
// the group: all of them together take what it takes. Of its n-1 start-ups it pays one [assumed:
// Parm's overlapped kernel].
PortPrice TariffMaker::shift_step(const CollectiveCost& entry, int size, const LevelPart& part) {
  PortPrice step =
      place_.span() == Span::kBoth ? entry_of_level(entry, size, part) : from_entry(entry, size);
  step.argument *= place_.size;
  step.scale /= part.hops;
  step.startup_seconds = startup(entry, place_.size) / (place_.size - 1);
  const bool is_exchange = entry.operation == kAllToAll;
  assume("{}: not in the profile; one step of an {}{}",
         describe(CollectiveOperation::kShift, entry.span),
         describe(kAllToAll, entry.span),
         is_exchange ? "" : " at the figures of " + describe(entry.operation, entry.span));
  return step;
}

PortPrice TariffMaker::shift_step_between_nodes() {
  const CollectiveCost* entry = find_measured(kAllToAll, Span::kFabric, place_.nodes);
  return entry != nullptr ? shift_step(*entry, place_.nodes, level_parts(kAllToAll, place_).between)
                          : from_rate(CollectiveOperation::kShift, Span::kFabric, place_.size);
}

// In a group over several nodes the kernel, and so its start-up, is that of the AlltoAll between
// nodes, and without an AlltoAll within a node the AllGather's figures stand in as they do for the
// whole AlltoAll.
PortPrice TariffMaker::shift_step_within_node() {
  const bool is_over_nodes = place_.nodes > 1;
  const CollectiveCost* kernel =
      is_over_nodes ? find_measured(kAllToAll, Span::kFabric, place_.nodes) : nullptr;
  const CollectiveCost* moved = find_measured(kAllToAll, Span::kNode, place_.on_node);
  if (moved == nullptr && is_over_nodes) {
    moved = find_measured(kAllGather, Span::kNode, place_.on_node);
  }
  PortPrice step = moved != nullptr
                       ? shift_step(*moved, place_.on_node, level_parts(kAllToAll, place_).inside)
                       : from_rate(CollectiveOperation::kShift, Span::kNode, place_.size);
  if (kernel != nullptr) {
    step.startup_seconds = startup(*kernel, place_.size) / (place_.size - 1);
  }
  return step;
}

}  // namespace moesim
