#include "sim/schedule/routed_scenario.h"

namespace moesim {

RoutedScenario::RoutedScenario(const Scenario& scenario)
    : Scenario(scenario), drawn_(std::make_shared<std::map<Key, DomainRouting>>()) {}

RoutedScenario RoutedScenario::one_micro_batch() const {
  RoutedScenario one = *this;
  one.model.batch /= pipeline.micro_batches;
  one.pipeline.micro_batches = 1;
  return one;
}

RoutedScenario RoutedScenario::one_layer() const {
  RoutedScenario one = one_micro_batch();
  one.model.layers = parallel.pp;
  one.model.recompute = Recompute::kNothing;
  return one;
}

const DomainRouting& RoutedScenario::domain_routing(const RoutingDomain& domain) const {
  const Key key{domain.rows, domain.ranks_per_domain};
  const auto found = drawn_->find(key);
  if (found != drawn_->end()) {
    return found->second;
  }
  auto tokens = make_routing(*this, domain);
  const int largest = largest_count(tokens);
  return drawn_->emplace(key, DomainRouting{std::move(tokens), largest}).first->second;
}

}  // namespace moesim
