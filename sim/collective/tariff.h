#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/collective/layout_laws.h"
#include "sim/collective/member_place.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"

namespace moesim {

// Rates that differ by less, relative, are equal: to the six digits that are told.
constexpr double kEqualRates = 1e-6;

// What a collective pays on one of a member's two ports, for n nominal bytes:
//   startup + scale * transfer(argument * n)
// `transfer` is the entry's, or the port's rate when there is no entry.
struct PortPrice {
  bool used = false;
  bool measured = false;  // from the profile, not from the cluster's rates
  double startup_seconds = 0;
  const CollectiveCost* startup_of = nullptr;  // whose start-up it is
  const CollectiveCost* entry = nullptr;       // whose transfer it is
  int measured_size = 0;                       // of the entry's group
  double seconds_per_byte = 0;                 // without an entry
  double argument = 1;
  double scale = 1;
  BottleneckPlace bottleneck = BottleneckPlace::kPort;
  double peer_bytes_per_second = 0;  // that no two members' messages exceed; 0: no limit
  std::optional<LawTerms> tree{};    // taken where it is faster

  LawTime time(double bytes) const;

  // Of the transfer alone.
  double seconds(double bytes) const { return time(bytes).transfer; }

  // Whether the transfer grows in proportion to the bytes.
  bool is_proportional() const { return (entry == nullptr || entry->points.empty()) && !tree; }

  // True when the entry is a table that was not measured at this size.
  bool extrapolates(double bytes) const;
};

// What an operation costs at one place. `assumptions` says what had to be assumed for it.
struct Tariff {
  PortPrice intra;
  PortPrice inter;
  double weight = 1;
  std::vector<std::string> assumptions;
};

// The tariff of the default algorithm from the profile's figures (entry_choice.h), or where it has
// none from the cluster's port rates (docs/model.md). Throws Error when neither profile nor cluster
// has a figure.
Tariff make_tariff(const Profile& profile,
                   const Cluster& cluster,
                   CollectiveOperation operation,
                   const MemberPlace& place);

// "ALL_TO_ALL between nodes", for messages.
std::string describe(CollectiveOperation operation, Span span);

}  // namespace moesim
