#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/device_step.h"
#include "kernels/device/lowering_space.h"

namespace moesim {

// Elements that stand one behind the other.
struct ElementRun {
  Elements at;
  int64_t count = 0;

  DeviceAddress end() const { return at.from(count).address; }
};

// The same elements in as few runs as there are; empty ones left out.
std::vector<ElementRun> joined(const std::vector<ElementRun>& runs);

// Collects what one launch of CombinePieces does.
class PieceList {
 public:
  // `to` becomes the combination of as many elements of each source.
  void add(const ElementRun& to, const std::vector<Elements>& sources);
  // The same for lists of runs, which are cut wherever one of them ends. All have equally many
  // elements.
  void add(const std::vector<ElementRun>& to, const std::vector<std::vector<ElementRun>>& sources);

  bool empty() const { return pieces_.empty(); }
  // Each element is read once for each source and written once.
  DeviceStep step(Combination combination, Rounding rounding, LoweringSpace& space) const;

 private:
  std::vector<Piece> pieces_;
  std::vector<Elements> sources_;
};

}  // namespace moesim
