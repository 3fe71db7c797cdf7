#pragma once

#include "kernels/core/token_rows.h"
#include "kernels/device/blocks/device_rows.h"

namespace moesim {

// Which token stands in each slot of an index. What no row of tokens can mean counts as empty.
struct TokenIndex {
  DeviceIndex index;
  int rows = 0;  // of tokens

  MOESIM_HD int row(int slot) const {
    const int row = index.at(slot);
    return 0 <= row && row < rows ? row : -1;
  }
};

// Order: a block for each slot.
struct GatherRows {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  TokenIndex tokens;
  DeviceRows x;
  DeviceRows buffer;

  MOESIM_HD void run(int block, Scratch&) const {
    const int row = tokens.row(block);
    copy_row<kThreads>(row < 0 ? Elements{} : x.row(row), x.columns, buffer.row(block));
  }
};

// The reverse of an index: which slot a row has with each expert, into a table that was filled with
// -1. A thread for each slot. A row has one slot with an expert at most.
struct MapSlots {
  enum : int { kThreads = 256 };
  using Scratch = BlockScratch<kThreads>;

  TokenIndex tokens;
  int num_slots = 0;
  const int32_t* expert_of_slot = nullptr;
  int experts = 0;
  int32_t* slots = nullptr;  // rows x experts

  MOESIM_HD void run(int block, Scratch&) const {
    phase<kThreads>([&](int thread) {
      const int slot = block * kThreads + thread;
      const int row = slot < num_slots ? tokens.row(slot) : -1;
      if (row >= 0) {
        slots[int64_t{row} * experts + expert_of_slot[slot]] = slot;
      }
    });
  }
};

// A row's sum over its slots, experts ascending: of order's gradients, or of results times their
// weights. A block for each row.
struct SumSlots {
  enum : int { kThreads = kWideBlockThreads };

  struct Scratch {
    int slots[kThreads];   // of as many experts; -1: none
    int listed[kThreads];  // those that there are
    int count;
  };

  const int32_t* slots = nullptr;  // rows x experts
  int experts = 0;
  DeviceRows buffer;  // by slot
  DeviceRows weight;  // by slot; no columns: all are 1 and nothing is rounded
  Rounding rounding = Rounding::kOff;
  DeviceRows to;
  bool adds = false;  // to what stands there, otherwise to 0

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const Elements sum = to.row(block);
    for (int first = 0; first == 0 || first < experts; first += kThreads) {
      list_slots(block, first, scratch);
      add_listed(first == 0 && !adds, sum, scratch);
    }
  }

  MOESIM_HD void list_slots(int block, int first, Scratch& scratch) const {
    phase<kThreads>([&](int thread) {
      const int expert = first + thread;
      scratch.slots[thread] = expert < experts ? slots[int64_t{block} * experts + expert] : -1;
    });
    phase<kThreads>([&](int thread) {
      const bool is_last = thread == kThreads - 1;
      if (scratch.slots[thread] < 0 && !is_last) {
        return;
      }
      int place = 0;
      for (int before = 0; before < thread; ++before) {
        place += scratch.slots[before] >= 0 ? 1 : 0;
      }
      if (scratch.slots[thread] >= 0) {
        scratch.listed[place++] = scratch.slots[thread];
      }
      if (is_last) {
        scratch.count = place;
      }
    });
  }

  MOESIM_HD void add_listed(bool begins, const Elements& sum, const Scratch& scratch) const {
    block_for_packs<kThreads>(to.columns, [&](int m, int count) {
      Pack pack = begins ? Pack{} : sum.load_pack(m, count);
      for (int i = 0; i < scratch.count; ++i) {
        const int slot = scratch.listed[i];
        const Pack term = buffer.row(slot).load_pack(m, count);
        add(pack, weight.columns == 0 ? term : scaled(factor(slot), term, rounding));
      }
      sum.store_pack(m, count, pack);
    });
  }

  MOESIM_HD float factor(int slot) const { return rounded(weight.row(slot).load(0), rounding); }
};

// Unorder backward: a block for each slot.
struct ScaleSlots {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  TokenIndex tokens;
  Rounding rounding = Rounding::kOff;
  DeviceRows dy;  // by token; all others by slot
  DeviceRows buffer;
  DeviceRows weight;
  DeviceRows d_buffer;
  DeviceRows d_weight;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const int row = tokens.row(block);
    const Elements from = row < 0 ? Elements{} : dy.row(row);
    scale_row<kThreads>(weight.row(block).load(0), from, dy.columns, rounding, d_buffer.row(block));
    const int columns = row < 0 ? 0 : dy.columns;
    const float dot = dot_rows(scratch, buffer.row(block), from, columns, rounding);
    phase<kThreads>([&](int thread) {
      if (thread == 0) {
        d_weight.row(block).store(0, dot);
      }
    });
  }
};

}  // namespace moesim
