#pragma once

#include "kernels/core/gate_scores.h"
#include "kernels/core/gate_slots.h"
#include "kernels/device/blocks/device_rows.h"

namespace moesim {

// The slots of a domain with every expert, and what goes into them: the row of the gate's input and
// its weight.
struct DomainSlots {
  const float* probabilities = nullptr;  // rows x E
  const int* choices = nullptr;          // rows x width
  int rows = 0;
  int experts = 0;
  int width = 0;
  int first_row = 0;  // of the domain
  GateWeighting weighting = GateWeighting::kNormalized;
  const int32_t* slots = nullptr;  // expert by expert
  const int32_t* ends = nullptr;   // running sums of their numbers
  DeviceIndex index;
  DeviceRows weight;

  MOESIM_HD int first_slot(int expert) const { return expert == 0 ? 0 : ends[expert - 1]; }
  MOESIM_HD int capacity(int expert) const { return ends[expert] - first_slot(expert); }

  MOESIM_HD void fill(int expert, int slot, int row) const {
    const int at = slots[first_slot(expert) + slot];
    index.at(at) = row < 0 ? -1 : first_row + row;
    weight.row(at).store(0, row < 0 ? 0.0F : combine_weight(weighting, gate_row(row), expert));
  }

  MOESIM_HD GateRow gate_row(int row) const {
    return {probabilities + int64_t{row} * experts, experts, choices + int64_t{row} * width, width};
  }
};

// Rows choose experts: a block for each expert.
struct FillExpertSlots {
  enum : int { kThreads = 256 };
  using Scratch = BlockScratch<kThreads>;

  DomainSlots domain;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    fill_expert_slots(scratch,
                      {domain.choices, domain.rows, domain.width},
                      block,
                      domain.capacity(block),
                      [&](int slot, int row) { domain.fill(block, slot, row); });
  }
};

// Experts choose rows: for each expert a block for every kThreads rows.
struct FillChosenSlots {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  DomainSlots domain;
  int blocks_per_expert = 1;

  MOESIM_HD void run(int block, Scratch&) const {
    const int expert = block / blocks_per_expert;
    const int part = block % blocks_per_expert;
    fill_chosen_slots<kThreads>({domain.probabilities, domain.rows, domain.experts},
                                {part * kThreads, kThreads},
                                expert,
                                domain.capacity(expert),
                                [&](int slot, int row) { domain.fill(expert, slot, row); });
  }
};

}  // namespace moesim
