#pragma once

#include <optional>
#include <vector>

#include "sim/program/footprint.h"

namespace moesim {

// The ranks among which footprints of one tensor are compared: those of a role.
struct RankView {
  const Program& program;
  const GroupTable& groups;
  const std::vector<int>& ranks;
};

bool is_present(const RankView& view, const Presence& presence, int rank);

// The footprint as the view's ranks see it: always present where all of them touch it, nullopt
// where none does.
std::optional<Footprint> within(const RankView& view, const Footprint& footprint);

// Whether some rank touches a row with both.
bool overlap(const RankView& view, const Footprint& left, const Footprint& right);

// Whether, on every rank, `inner` is a part of `outer`. May miss a yes where frames differ.
bool covers(const RankView& view, const Footprint& outer, const Footprint& inner);

// Whether, on every rank that touches `whole`, the parts together cover it.
bool cover_together(const RankView& view,
                    const std::vector<const Footprint*>& parts,
                    const Footprint& whole);

}  // namespace moesim
