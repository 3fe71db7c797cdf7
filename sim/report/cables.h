#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/io/wiring.h"

namespace moesim {

// Cables of one kind between the same two vertices of a picture, together.
struct CableBundle {
  int a = 0;  // vertices
  int b = 0;
  LinkKind kind = LinkKind::kNetwork;
  double rate = 0;  // bytes per second, of all
  int count = 1;
  double load = 0;        // utilisation of the busiest way of any of them
  std::string busiest{};  // which: "node:0/nic:1 -> switch:0/1"
};

// The cables of a picture, in bundles.
class Cables {
 public:
  // Adds to the bundle that is there already.
  void join(const CableBundle& cables);

  // In order of their first cables.
  const std::vector<CableBundle>& bundles() const { return bundles_; }

 private:
  std::vector<CableBundle> bundles_;
  std::map<std::tuple<int, int, LinkKind>, size_t> bundle_of_;  // by its vertices and kind
};

}  // namespace moesim
