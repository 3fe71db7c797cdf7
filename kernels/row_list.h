#pragma once

#include <cstdint>
#include <vector>

#include "kernels/moves.h"

namespace moesim {

// A piece of a member's list of rows: of `nominal` rows the `valid` ones stand at `first`.
struct ListedRows {
  RowAddress first;
  int64_t nominal = 0;
  int64_t valid = 0;
};

using RowList = std::vector<ListedRows>;

struct MemberRank {
  int member = 0;
  int rank = 0;
};

// The rows of several regions, one behind the other, as one member's list.
RowList list_rows(const RowMap& map,
                  const Task& task,
                  const std::vector<Region>& regions,
                  Use use,
                  const MemberRank& who);

// Nominal rows.
int64_t num_rows(const RowList& list);

// The list of its valid rows alone, which may be cut anywhere.
RowList without_empty_rows(const RowList& list);

// Nominal rows [begin, begin + count) of the list.
RowList sub_list(const RowList& list, int64_t begin, int64_t count);

// The index-th of `runs` equal parts.
RowList equal_run(const RowList& list, int runs, int index);

// Moves the rows of one list to the places of another of equal nominal length, piece by piece:
// pieces of equal length move their valid rows, which must be as many on both sides; others must
// be full. Throws Error where that is not so, which the verifier cannot see.
void append_moves(const RowList& from, const RowList& to, bool add, std::vector<Move>& moves);

}  // namespace moesim
