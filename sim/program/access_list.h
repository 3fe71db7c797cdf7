#pragma once

#include <functional>
#include <map>
#include <vector>

#include "sim/program/footprint.h"

namespace moesim {

// One task's use of one tensor, as the ranks of a role see it.
struct Access {
  Footprint where;
  int task = kNone;
  bool writes = false;
};

// The accesses to one tensor that still matter, found by their blocks or rows: the steps of an
// exchange over thousands of ranks each use a slot of their own, the layers of a deep model each
// their rows of the gradient.
class AccessList {
 public:
  void add(const Access& access);

  // Every access that may touch a row with `where`, in launch order: those of all blocks whose rows
  // overlap, those of some blocks in another frame, and those in its own frame whose blocks
  // overlap. Valid until the next change.
  const std::vector<const Access*>& near(const Footprint& where);

  // Drops those of them for which `drop` is true.
  void erase_near_if(const Footprint& where, const std::function<bool(const Access&)>& drop);

 private:
  // Accesses of about one size: those of some blocks in one frame by first block, those of all
  // blocks, which are the same in every frame, by first row.
  struct Lane {
    Frame frame;
    bool by_rows = false;
    int size_bits = 0;  // of every size: none is twice another
    int largest = 0;    // size of any access so far
    std::multimap<int, Access> accesses;
  };
  using Place = std::multimap<int, Access>::iterator;

  // Calls `visit` for the places of a lane's accesses near `where`. `visit` may erase the place
  // that it is called with.
  template <typename Visit>
  static void visit_near(Lane& lane, const Footprint& where, Visit visit);

  std::vector<Lane> lanes_;
  std::vector<const Access*> near_;
};

}  // namespace moesim
