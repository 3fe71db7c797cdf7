#include "sim/cluster/link_changes.h"

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cluster/link_selector.h"

namespace moesim {
namespace {

void apply(const LinkChange& change, Topology& topology) {
  const LinkSelector selector(change.at, change.location);
  std::vector<bool> is_done(topology.media().size());
  bool is_any = false;
  for (int i = 0; i < std::ssize(topology.links()); ++i) {
    const Link& link = topology.links()[i];
    const bool is_kind = change.kind == LinkKind::kAny || change.kind == link.kind;
    if (is_kind && selector.matches(topology, link)) {
      is_any = true;
      if (!is_done[link.medium]) {
        topology.scale(i, change.remove ? 0 : change.rate_factor);
        is_done[link.medium] = true;
      }
    }
  }
  if (!is_any) {
    throw Error(
        change.location,
        fmt::format("no link at {}; `moesim topology show` lists them", in_quotes(change.at)));
  }
}

}  // namespace

void apply_changes(const std::vector<LinkChange>& changes, Topology& topology) {
  for (const LinkChange& change : changes) {
    apply(change, topology);
  }
}

}  // namespace moesim
