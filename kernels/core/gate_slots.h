#pragma once

#include <cstdint>

#include "kernels/core/phase.h"

namespace moesim {

// Choices of rows, `width` of each.
struct ChoiceTable {
  const int* choices = nullptr;
  int rows = 0;
  int width = 0;
};

MOESIM_HD bool chooses(const ChoiceTable& table, int row, int expert) {
  bool found = false;
  for (int i = 0; i < table.width; ++i) {
    found = found || table.choices[int64_t{row} * table.width + i] == expert;
  }
  return found;
}

// The rows that chose the expert, in token order, fill its slots: fill(slot, row) for slots below
// `capacity`; later rows are dropped. Slots that stay empty get row -1.
template <int T, typename Fill>
MOESIM_HD void fill_expert_slots(BlockScratch<T>& scratch,
                                 const ChoiceTable& table,
                                 int expert,
                                 int capacity,
                                 const Fill& fill) {
  const int share = (table.rows + T - 1) / T;
  const auto end = [&](int thread) {
    return (thread + 1) * share < table.rows ? (thread + 1) * share : table.rows;
  };
  phase<T>([&](int thread) {
    int count = 0;
    for (int row = thread * share; row < end(thread); ++row) {
      count += chooses(table, row, expert) ? 1 : 0;
    }
    scratch.indices[thread] = count;
  });
  phase<T>([&](int thread) {
    int slot = 0;
    for (int before = 0; before < thread; ++before) {
      slot += scratch.indices[before];
    }
    for (int row = thread * share; row < end(thread); ++row) {
      if (chooses(table, row, expert)) {
        if (slot < capacity) {
          fill(slot, row);
        }
        ++slot;
      }
    }
    if (thread == T - 1) {
      for (; slot < capacity; ++slot) {
        fill(slot, -1);
      }
    }
  });
}

// Probabilities of rows, one for each expert.
struct ProbabilityTable {
  const float* probabilities = nullptr;
  int rows = 0;
  int experts = 0;
};

// Expert choice (Zhou et al., "Mixture-of-Experts with Expert Choice Routing", 2022): the expert
// takes the rows in which its probability is highest, the lower row of equals first. A row's slot
// is the number of rows before it. The rows from `first` on, at most `count`, are placed; the call
// for the first ones fills the slots for which there are no rows.
struct RowRange {
  int first = 0;
  int count = 0;
};

template <int T, typename Fill>
MOESIM_HD void fill_chosen_slots(const ProbabilityTable& table,
                                 const RowRange& range,
                                 int expert,
                                 int capacity,
                                 const Fill& fill) {
  const auto value = [&](int row) {
    return table.probabilities[int64_t{row} * table.experts + expert];
  };
  block_for<T>(range.first == 0 ? capacity - table.rows : 0,
               [&](int i) { fill(table.rows + i, -1); });
  const int left = table.rows - range.first;
  block_for<T>(left < range.count ? left : range.count, [&](int i) {
    const int row = range.first + i;
    const float own = value(row);
    int slot = 0;
    for (int other = 0; other < table.rows; ++other) {
      const float others = value(other);
      const bool before = others > own || (!(own > others) && other < row);
      slot += before ? 1 : 0;
    }
    if (slot < capacity) {
      fill(slot, row);
    }
  });
}

}  // namespace moesim
