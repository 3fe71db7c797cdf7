#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "sim/collective/layout_laws.h"
#include "sim/collective/tariff.h"

namespace moesim {

// Builds the tariff of one operation at one place: of one level in tariff.cpp, of both in
// tariff_over_both.cpp, of a SHIFT in tariff_shift.cpp.
class TariffMaker {
 public:
  TariffMaker(const Profile& profile, const Cluster& cluster, const MemberPlace& place)
      : profile_(profile), cluster_(cluster), place_(place) {}

  Tariff make(CollectiveOperation operation) {
    if (operation == CollectiveOperation::kShift) {
      make_shift();
    } else if (place_.span() == Span::kNode) {
      tariff_.intra = price(operation, Span::kNode, place_.size);
    } else if (place_.span() == Span::kFabric) {
      tariff_.inter = price(operation, Span::kFabric, place_.size);
    } else {
      make_over_both(operation);
    }
    return std::move(tariff_);
  }

 private:
  void make_over_both(CollectiveOperation operation);
  void make_of_levels(CollectiveOperation operation);
  PortPrice price_of_level(CollectiveOperation operation, Span span, const LevelPart& part);
  PortPrice entry_of_level(const CollectiveCost& entry, int size, const LevelPart& part);
  void make_all_to_all_over_both();
  PortPrice intra_part_of_all_to_all(const LevelPart& part);
  void make_shift();
  PortPrice shift_step(const CollectiveCost& entry, int size, const LevelPart& part);
  PortPrice shift_step_between_nodes();
  PortPrice shift_step_within_node();
  PortPrice price(CollectiveOperation operation, Span span, int size);
  static bool are_lines(const CollectiveCost* scatter, const CollectiveCost* gather);
  PortPrice sum_of_halves(Span span, const PortPrice& scatter, const PortPrice& gather);
  PortPrice from_entry(const CollectiveCost& entry, int size);
  void carry_over(const CollectiveCost& entry, int size, PortPrice& price);
  double congestion(CollectiveOperation operation, const Layout& layout);
  double rate_scale(const CollectiveCost& entry);
  double ring_scale(const CollectiveCost& entry);
  double scale_of_rates(const CollectiveCost& entry,
                        std::string_view where,
                        double measured,
                        double present);
  PortPrice from_rate(CollectiveOperation operation, Span span, int size, bool says_so = true);
  const CollectiveCost* find(CollectiveOperation operation, Span span, int size) const;
  const CollectiveCost* find_measured(CollectiveOperation operation, Span span, int size) const;
  PortPrice from_startup(const CollectiveCost& entry, int size);
  void assume_rate_of_port(const CollectiveCost& startup);
  double startup(const CollectiveCost& entry, int size) const;
  void replace_startup(PortPrice& price, const CollectiveCost& entry, double seconds);

  template <typename... Values>
  void assume(fmt::format_string<Values...> text, Values&&... values) {
    tariff_.assumptions.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const Profile& profile_;
  const Cluster& cluster_;
  MemberPlace place_;
  Tariff tariff_;
};

}  // namespace moesim
