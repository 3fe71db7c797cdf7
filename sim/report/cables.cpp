#include "sim/report/cables.h"

namespace moesim {

void Cables::join(const CableBundle& cables) {
  const auto [found, is_new] =
      bundle_of_.try_emplace({cables.a, cables.b, cables.kind}, bundles_.size());
  if (is_new) {
    bundles_.push_back(cables);
    return;
  }
  CableBundle& known = bundles_[found->second];
  known.rate += cables.rate;
  known.count += cables.count;
  if (cables.load > known.load) {
    known.load = cables.load;
    known.busiest = cables.busiest;
  }
}

}  // namespace moesim
