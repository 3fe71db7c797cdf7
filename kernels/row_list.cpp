#include "kernels/row_list.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// The part [begin, begin + count) of a piece. A piece with empty rows is only taken whole.
ListedRows part_of(const ListedRows& piece, int64_t begin, int64_t count) {
  if (count == piece.nominal) {
    return piece;
  }
  if (piece.valid != piece.nominal) {
    throw Error(
        "a block that a routing leaves partly empty is cut at another row than its source; move "
        "whole blocks, or the same rows of them");
  }
  ListedRows part{piece.first, count, count};
  part.first.row += begin;
  return part;
}

}  // namespace

RowList list_rows(const RowMap& map,
                  const Task& task,
                  const std::vector<Region>& regions,
                  Use use,
                  const MemberRank& who) {
  RowList list;
  for (const Region& region : regions) {
    for (const RowSpan& span : map.spans(task, region, use, who.rank)) {
      list.push_back({{who.member, region.tensor, span.first}, span.nominal, span.valid});
    }
  }
  return list;
}

int64_t num_rows(const RowList& list) {
  int64_t rows = 0;
  for (const ListedRows& piece : list) {
    rows += piece.nominal;
  }
  return rows;
}

RowList without_empty_rows(const RowList& list) {
  RowList result;
  for (const ListedRows& piece : list) {
    if (piece.valid > 0) {
      result.push_back({piece.first, piece.valid, piece.valid});
    }
  }
  return result;
}

RowList sub_list(const RowList& list, int64_t begin, int64_t count) {
  RowList result;
  int64_t at = 0;
  for (const ListedRows& piece : list) {
    const int64_t from = std::max(begin, at);
    const int64_t to = std::min(begin + count, at + piece.nominal);
    if (from < to) {
      result.push_back(part_of(piece, from - at, to - from));
    }
    at += piece.nominal;
  }
  return result;
}

RowList equal_run(const RowList& list, int runs, int index) {
  const int64_t rows = num_rows(list) / runs;
  return sub_list(list, rows * index, rows);
}

void append_moves(const RowList& from, const RowList& to, bool add, std::vector<Move>& moves) {
  CHECK(num_rows(from) == num_rows(to), "{} rows move to {}", num_rows(from), num_rows(to));
  int64_t at = 0;
  for (const ListedRows& source : from) {
    int64_t done = 0;
    for (const ListedRows& target : sub_list(to, at, source.nominal)) {
      const ListedRows part = part_of(source, done, target.nominal);
      if (part.valid != target.valid) {
        throw Error(fmt::format(
            "{} rows that hold tokens would move to {}: the regions are not the same rows of their "
            "blocks",
            part.valid,
            target.valid));
      }
      if (part.valid > 0) {
        moves.push_back({part.first, target.first, part.valid, add});
      }
      done += target.nominal;
    }
    at += source.nominal;
  }
}

}  // namespace moesim
