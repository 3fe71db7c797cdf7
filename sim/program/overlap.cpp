#include "sim/program/overlap.h"

#include <algorithm>
#include <array>

namespace moesim {
namespace {

struct Rectangle {
  BlockRange blocks;
  int first_row = 0;
  int end_row = 0;
};

bool rows_overlap(const Footprint& left, const Footprint& right) {
  return left.first_row < right.end_row && right.first_row < left.end_row;
}

// In one frame, or where one has all blocks, the answer is the same on every rank.
bool comparable(const Footprint& left, const Footprint& right) {
  return left.frame == right.frame || left.all_blocks() || right.all_blocks();
}

// How far `to` lies ahead of `from` on the circle of a run.
int distance(const Footprint& from, const Footprint& to) {
  const int ahead = to.first_block - from.first_block;
  return ahead < 0 ? ahead + from.run_blocks : ahead;
}

bool blocks_overlap(const Footprint& left, const Footprint& right) {
  return left.all_blocks() || right.all_blocks() || distance(left, right) < left.num_blocks ||
         distance(right, left) < right.num_blocks;
}

bool blocks_cover(const Footprint& outer, const Footprint& inner) {
  return outer.all_blocks() ||
         (!inner.all_blocks() && distance(outer, inner) + inner.num_blocks <= outer.num_blocks);
}

bool is_always(const Footprint& footprint) {
  return footprint.presence.kind == Presence::Kind::kAlways;
}

void subtract(std::vector<Rectangle>& from, const Rectangle& part) {
  std::vector<Rectangle> rest;
  for (const Rectangle& whole : from) {
    const int first_row = std::max(whole.first_row, part.first_row);
    const int end_row = std::min(whole.end_row, part.end_row);
    const int first = std::max(whole.blocks.first, part.blocks.first);
    const int end = std::min(whole.blocks.end, part.blocks.end);
    if (first_row >= end_row || first >= end) {
      rest.push_back(whole);
      continue;
    }
    const auto pieces = std::to_array<Rectangle>({{whole.blocks, whole.first_row, first_row},
                                                  {whole.blocks, end_row, whole.end_row},
                                                  {{whole.blocks.first, first}, first_row, end_row},
                                                  {{end, whole.blocks.end}, first_row, end_row}});
    for (const Rectangle& piece : pieces) {
      if (piece.first_row < piece.end_row && piece.blocks.first < piece.blocks.end) {
        rest.push_back(piece);
      }
    }
  }
  from.swap(rest);
}

// Takes blocks x rows of `part` away from what is left of the whole.
void subtract(std::vector<Rectangle>& left,
              const std::vector<BlockRange>& blocks,
              const Footprint& part) {
  for (const BlockRange& range : blocks) {
    subtract(left, {range, part.first_row, part.end_row});
  }
}

std::vector<Rectangle> rectangles(const std::vector<BlockRange>& blocks, const Footprint& whole) {
  std::vector<Rectangle> result;
  result.reserve(blocks.size());
  for (const BlockRange& range : blocks) {
    result.push_back({range, whole.first_row, whole.end_row});
  }
  return result;
}

// All footprints count blocks in the frame of `pattern`: one rank stands for all.
bool frame_covers(const std::vector<const Footprint*>& parts,
                  const Footprint& whole,
                  const Footprint& pattern) {
  const auto blocks_in_run = [&](const Footprint& footprint) {
    std::vector<BlockRange> blocks;
    if (footprint.all_blocks()) {
      blocks.push_back({0, pattern.run_blocks});
    } else {
      append_circular(footprint, footprint.first_block, 0, blocks);
    }
    return blocks;
  };
  std::vector<Rectangle> left = rectangles(blocks_in_run(whole), whole);
  for (const Footprint* part : parts) {
    subtract(left, blocks_in_run(*part), *part);
  }
  return left.empty();
}

// Whether one rank stands for all: the parts are wherever the whole is, in one frame with
// `pattern`.
bool all_comparable(const std::vector<const Footprint*>& parts,
                    const Footprint& whole,
                    const Footprint& pattern) {
  return std::all_of(parts.begin(), parts.end(), [&](const Footprint* part) {
    return (is_always(*part) || part->presence == whole.presence) && comparable(*part, pattern);
  });
}

// What covers all blocks in the parts' frame covers the whole in any: a yes for all ranks at once.
bool covers_every_block(const std::vector<const Footprint*>& parts,
                        const Footprint& whole,
                        const Footprint& pattern) {
  Footprint everything = whole;
  everything.frame = pattern.frame;
  everything.first_block = 0;
  everything.num_blocks = everything.run_blocks = pattern.run_blocks;
  return all_comparable(parts, everything, pattern) && frame_covers(parts, everything, pattern);
}

bool rank_covers(const RankView& view,
                 const std::vector<const Footprint*>& parts,
                 const Footprint& whole,
                 int rank) {
  std::vector<BlockRange> blocks;
  blocks_on(view.program, view.groups, whole, rank, blocks);
  std::vector<Rectangle> left = rectangles(blocks, whole);
  for (const Footprint* part : parts) {
    if (is_present(view, part->presence, rank)) {
      blocks_on(view.program, view.groups, *part, rank, blocks);
      subtract(left, blocks, *part);
    }
  }
  return left.empty();
}

}  // namespace

bool is_present(const RankView& view, const Presence& presence, int rank) {
  if (presence.kind == Presence::Kind::kAlways) {
    return true;
  }
  const int instance = view.groups.instance(presence.group, rank);
  if (instance == kNone) {
    return false;
  }
  const int index = view.groups.index(presence.group, rank);
  if (presence.kind == Presence::Kind::kRoot) {
    return index == presence.value;
  }
  const auto size = static_cast<int>(view.program.groups[presence.group].members[instance].size());
  const int partner = index + presence.value;
  return presence.kind == Presence::Kind::kMembers || (0 <= partner && partner < size);
}

std::optional<Footprint> within(const RankView& view, const Footprint& footprint) {
  if (is_always(footprint)) {
    return footprint;
  }
  const auto num_present = std::count_if(view.ranks.begin(), view.ranks.end(), [&](int rank) {
    return is_present(view, footprint.presence, rank);
  });
  if (num_present == 0) {
    return std::nullopt;
  }
  Footprint seen = footprint;
  if (num_present == static_cast<std::ptrdiff_t>(view.ranks.size())) {
    seen.presence = {};
  }
  return seen;
}

bool overlap(const RankView& view, const Footprint& left, const Footprint& right) {
  if (!rows_overlap(left, right)) {
    return false;
  }
  const bool together = is_always(left) || is_always(right) || left.presence == right.presence;
  if (together && comparable(left, right)) {
    return blocks_overlap(left, right);
  }
  std::vector<BlockRange> left_blocks;
  std::vector<BlockRange> right_blocks;
  return std::any_of(view.ranks.begin(), view.ranks.end(), [&](int rank) {
    if (!is_present(view, left.presence, rank) || !is_present(view, right.presence, rank)) {
      return false;
    }
    blocks_on(view.program, view.groups, left, rank, left_blocks);
    blocks_on(view.program, view.groups, right, rank, right_blocks);
    return std::any_of(left_blocks.begin(), left_blocks.end(), [&](const BlockRange& block) {
      return std::any_of(right_blocks.begin(), right_blocks.end(), [&](const BlockRange& other) {
        return block.first < other.end && other.first < block.end;
      });
    });
  });
}

bool covers(const RankView& view, const Footprint& outer, const Footprint& inner) {
  if (outer.first_row > inner.first_row || outer.end_row < inner.end_row) {
    return false;
  }
  if (!comparable(outer, inner) || !blocks_cover(outer, inner)) {
    return false;
  }
  if (is_always(outer) || outer.presence == inner.presence) {
    return true;
  }
  return std::all_of(view.ranks.begin(), view.ranks.end(), [&](int rank) {
    return is_present(view, outer.presence, rank) || !is_present(view, inner.presence, rank);
  });
}

bool cover_together(const RankView& view,
                    const std::vector<const Footprint*>& parts,
                    const Footprint& whole) {
  const auto partial = std::find_if(
      parts.begin(), parts.end(), [](const Footprint* part) { return !part->all_blocks(); });
  const Footprint& pattern = whole.all_blocks() && partial != parts.end() ? **partial : whole;
  if (all_comparable(parts, whole, pattern)) {
    return frame_covers(parts, whole, pattern);
  }
  if (partial != parts.end() && covers_every_block(parts, whole, **partial)) {
    return true;
  }
  return std::all_of(view.ranks.begin(), view.ranks.end(), [&](int rank) {
    return !is_present(view, whole.presence, rank) || rank_covers(view, parts, whole, rank);
  });
}

}  // namespace moesim
