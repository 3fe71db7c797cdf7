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
  step.scale = rate_scale(*entry) / (place_.size * wire_share(kAllToAll, step.measured_size));
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
    step.scale = rate_scale(*inside) / (place_.on_node * wire_share(kAllToAll, step.measured_size));
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

}  // namespace moesim
