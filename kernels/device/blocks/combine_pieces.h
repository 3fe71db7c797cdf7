#pragma once

#include "kernels/core/elements.h"
#include "kernels/core/phase.h"
#include "kernels/core/rounding.h"

namespace moesim {

// How the elements of a piece come from those of its sources.
enum class Combination {
  kSum,          // first source + second + …: a copy where there is one
  kSumFromZero,  // 0 + first + second + …, which makes -0 a 0
  kLoss,         // first - second, or - 0: the first rounded
  kZero
};

// Elements that become a combination of as many of each of its sources.
struct Piece {
  Elements to;
  int count = 0;
  int first_source = 0;
  int num_sources = 0;
};

// Moves, sums and elementwise functions of any regions: their rows are cut into pieces when a task
// is lowered, one for each block. An element is read once for each source and written once.
struct CombinePieces {
  enum : int { kThreads = 256, kMostElements = 4096 };  // of a piece
  using Scratch = BlockScratch<kThreads>;

  const Piece* pieces = nullptr;
  const Elements* sources = nullptr;
  Combination combination = Combination::kSum;
  Rounding rounding = Rounding::kOff;  // of sources (kLoss: of the first)

  MOESIM_HD void run(int block, Scratch&) const {
    const Piece piece = pieces[block];
    block_for_packs<kThreads>(piece.count, [&](int i, int count) {
      piece.to.store_pack(i, count, combined(piece, i, count));
    });
  }

  MOESIM_HD Pack combined(const Piece& piece, int i, int count) const {
    Pack result;
    if (combination == Combination::kZero) {
      return result;
    }
    for (int source = 0; source < piece.num_sources; ++source) {
      const Pack pack = sources[piece.first_source + source].load_pack(i, count);
      const bool begins = source == 0 && combination != Combination::kSumFromZero;
      for (int k = 0; k < kPackSize; ++k) {
        const float value = pack.values[k];
        if (begins) {
          result.values[k] = rounded(value, rounding);
        } else if (combination == Combination::kLoss) {
          result.values[k] -= value;
        } else {
          result.values[k] += rounded(value, rounding);
        }
      }
    }
    return result;
  }
};

}  // namespace moesim
