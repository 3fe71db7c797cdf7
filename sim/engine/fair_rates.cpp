#include "sim/engine/fair_rates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr int kOwnCap = -1;      // in place of a medium
constexpr double kTie = 1e-11;   // relative: levels this near are one
constexpr double kNear = 1e-10;  // relative: levels found step by step
constexpr int kMostSteps = 500;

class Filling {
 public:
  explicit Filling(const FlowSharing& sharing);

  std::vector<double> rates();

 private:
  // A hop, seen from its medium.
  struct Crossing {
    int flow = 0;
    int use = 0;
    double seconds = 0;
  };
  // The two least claims of a flow, and where the least is.
  struct Claims {
    double least = kUnlimited;
    double second = kUnlimited;
    int medium = kOwnCap;
  };

  void find_shares();
  void sort_crossings();
  void find_claims(const std::vector<double>& levels);
  double level(int medium) const;
  void settle_flows();
  void keep_open_media();
  bool relax();

  const FlowSharing& sharing_;
  std::vector<double> shares_;       // by use: the claim of its flows at level 1
  std::vector<int> first_crossing_;  // by medium
  std::vector<Crossing> crossings_;
  std::vector<double> base_;   // levels when all on a medium claim their part of it
  std::vector<double> lower_;  // levels
  std::vector<double> upper_;
  std::vector<Claims> claims_;   // by flow
  std::vector<bool> settled_;    // by flow: its least claim is its rate
  std::vector<int> open_flows_;  // not settled
  std::vector<int> open_media_;  // crossed by such
};

Filling::Filling(const FlowSharing& sharing)
    : sharing_(sharing),
      base_(static_cast<size_t>(sharing.num_media)),
      upper_(base_.size(), kUnlimited),
      claims_(static_cast<size_t>(sharing.num_flows())),
      settled_(claims_.size()),
      open_flows_(claims_.size()) {
  find_shares();
  sort_crossings();
  lower_ = base_;
  std::iota(open_flows_.begin(), open_flows_.end(), 0);
}

// At first all that are on a medium claim their part of it, which leaves nothing: the level is 1
// over the sum of weights.
void Filling::find_shares() {
  std::vector<double> seconds(sharing_.uses.size());
  for (const FlowSharing::Hop& hop : sharing_.hops) {
    CHECK(hop.seconds > 0);
    seconds[hop.use] += hop.seconds;
  }
  std::vector<double> weights(base_.size());
  for (size_t use = 0; use < seconds.size(); ++use) {
    const auto& [medium, weight] = sharing_.uses[use];
    CHECK(weight > 0);
    if (seconds[use] > 0) {
      weights[medium] += weight;
      shares_.push_back(weight / seconds[use]);
    } else {
      shares_.push_back(0);
    }
  }
  for (size_t medium = 0; medium < weights.size(); ++medium) {
    if (weights[medium] > 0) {
      base_[medium] = 1 / weights[medium];
      open_media_.push_back(static_cast<int>(medium));
    }
  }
}

void Filling::sort_crossings() {
  first_crossing_.assign(base_.size() + 1, 0);
  for (const FlowSharing::Hop& hop : sharing_.hops) {
    ++first_crossing_[sharing_.uses[hop.use].medium + 1];
  }
  std::partial_sum(first_crossing_.begin(), first_crossing_.end(), first_crossing_.begin());
  crossings_.resize(sharing_.hops.size());
  std::vector<int> cursor(first_crossing_.begin(), first_crossing_.end() - 1);
  for (int flow = 0; flow < sharing_.num_flows(); ++flow) {
    for (int i = sharing_.first_hop[flow]; i < sharing_.first_hop[flow + 1]; ++i) {
      const FlowSharing::Hop& hop = sharing_.hops[i];
      crossings_[cursor[sharing_.uses[hop.use].medium]++] = {flow, hop.use, hop.seconds};
    }
  }
}

void Filling::find_claims(const std::vector<double>& levels) {
  for (const int flow : open_flows_) {
    Claims claims{.least = sharing_.caps[flow]};
    for (int i = sharing_.first_hop[flow]; i < sharing_.first_hop[flow + 1]; ++i) {
      const int use = sharing_.hops[i].use;
      const int medium = sharing_.uses[use].medium;
      const double claim = levels[medium] * shares_[use];
      if (claim < claims.least) {
        claims = {claim, claims.least, medium};
      } else {
        claims.second = std::min(claims.second, claim);
      }
    }
    claims_[flow] = claims;
  }
}

// The level that fills the medium when flows take no more than they claim elsewhere: those that
// would take more at a level leave the rest to others, who rise, until none is left that would.
// Without limit where all of them are held elsewhere.
double Filling::level(int medium) const {
  double level = base_[medium];
  int num_held = 0;
  for (;;) {
    double taken = 0;
    double claimed = 0;
    int held = 0;
    for (int i = first_crossing_[medium]; i < first_crossing_[medium + 1]; ++i) {
      const Crossing& crossing = crossings_[i];
      const Claims& claims = claims_[crossing.flow];
      const double elsewhere = claims.medium == medium ? claims.second : claims.least;
      const double share = shares_[crossing.use];
      if (elsewhere < level * share * (1 - kTie)) {
        taken += crossing.seconds * elsewhere;
        ++held;
      } else {
        claimed += crossing.seconds * share;
      }
    }
    if (held == first_crossing_[medium + 1] - first_crossing_[medium]) {
      return kUnlimited;
    }
    if (held <= num_held) {
      return level;
    }
    num_held = held;
    level = std::max(level, (1 - taken) / claimed);
  }
}

// A flow that its cap holds, or whose least claim is on a medium where the bounds have met, has its
// rate: elsewhere it claims at least as much.
void Filling::settle_flows() {
  for (const int flow : open_flows_) {
    const int medium = claims_[flow].medium;
    settled_[flow] = medium == kOwnCap || lower_[medium] >= upper_[medium] * (1 - kTie);
  }
  std::erase_if(open_flows_, [&](int flow) { return settled_[flow]; });
}

void Filling::keep_open_media() {
  std::vector<bool> crossed(lower_.size());
  for (const int flow : open_flows_) {
    for (int i = sharing_.first_hop[flow]; i < sharing_.first_hop[flow + 1]; ++i) {
      crossed[sharing_.uses[sharing_.hops[i].use].medium] = true;
    }
  }
  std::erase_if(open_media_, [&](int medium) { return !crossed[medium]; });
}

// Bounds that close no further leave media that hold each other's flows. Their levels are found by
// going part of the way from each to the one that would fill it, in 1 / level, which is finite; a
// shorter part when that overshoots.
bool Filling::relax() {
  std::vector<double> levels = lower_;
  double part = 0.5;
  double last = kUnlimited;
  for (int step = 0; step < kMostSteps; ++step) {
    find_claims(levels);
    double farthest = 0;
    for (const int medium : open_media_) {
      upper_[medium] = level(medium);
      const double distance = std::abs(1 / upper_[medium] - 1 / levels[medium]);
      farthest = std::max(farthest, distance * base_[medium]);
    }
    if (farthest < kNear) {
      return true;
    }
    part = farthest < last ? std::min(0.5, part * 1.05) : std::max(0.01, part * 0.7);
    last = farthest;
    for (const int medium : open_media_) {
      levels[medium] = 1 / ((1 - part) / levels[medium] + part / upper_[medium]);
    }
  }
  return false;
}

std::vector<double> Filling::rates() {
  find_claims(lower_);
  for (size_t num_open = 0; !open_flows_.empty() && num_open != open_flows_.size();) {
    num_open = open_flows_.size();
    for (const int medium : open_media_) {
      upper_[medium] = level(medium);
    }
    settle_flows();
    keep_open_media();
    find_claims(upper_);
    for (const int medium : open_media_) {
      lower_[medium] = std::max(lower_[medium], level(medium));
    }
    find_claims(lower_);
  }
  if (!open_flows_.empty() && !relax()) {
    find_claims(lower_);
  }
  std::vector<double> rates;
  rates.reserve(claims_.size());
  for (const Claims& claims : claims_) {
    rates.push_back(claims.least);
  }
  return rates;
}

}  // namespace

std::vector<double> fair_rates(const FlowSharing& sharing) {
  return Filling(sharing).rates();
}

}  // namespace moesim
