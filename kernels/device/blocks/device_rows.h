#pragma once

#include "kernels/core/elements.h"

namespace moesim {

// Which rows of a buffer a region lists, in its order: those of a table, or without one those that
// stand one behind the other from `first` on.
struct RowTable {
  const int32_t* rows = nullptr;
  int64_t first = 0;

  MOESIM_HD int64_t at(int64_t i) const { return rows == nullptr ? first + i : rows[i]; }
};

struct DeviceRows {
  Elements buffer;
  int columns = 0;
  RowTable table;

  MOESIM_HD Elements row(int64_t i) const { return buffer.from(table.at(i) * columns); }
};

// Rows of an index: one number each.
struct DeviceIndex {
  int32_t* buffer = nullptr;
  RowTable table;

  MOESIM_HD int32_t& at(int64_t i) const { return buffer[table.at(i)]; }
};

}  // namespace moesim
