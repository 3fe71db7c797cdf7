#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/collective/layout_laws.h"

namespace moesim {

// What a collective takes on a layout, whether that was measured or not.
struct LayoutEstimate {
  double seconds = 0;
  // A stated interval: [seconds, seconds] where layout and size were measured. Where nothing tells
  // one, `has_interval` is false and both are nothing.
  double low = 0;
  double high = 0;
  bool has_interval = true;
  bool extrapolated =
      false;          // another layout than any measured, or a size beyond the measured ones
  std::string basis;  // "measured", "from 8 nodes x 4 GPUs by more steps"
};

// Predicts one collective from a profile's entries that state their layout: from the layout itself,
// else from layouts of the same kind with other node counts (`more_steps`), else from one node and
// one GPU per node (`composed`).
//
// Where two node counts of a kind are known, they check the law: predicting the nearer from the
// other gives
//   - congestion: the median factor c by which large transfers take longer than the law says; a
//     transfer on N nodes takes c^(ln(N/N1)/ln(N1/N2)) as long, never less than the law says
//   - the interval: a factor e^(±s), s being the 0.9 quantile of what is left unexplained, times
//   the
//     logarithm of the step in node counts over that between the two
// With one count s is ln 1.3 for each factor of four in ranks, an assumption; so it is for the step
// from one GPU on each node to all of them, besides the bounds of Composition.
class LayoutModel {
 public:
  // Of what was measured with `algorithm`, or with any. Keeps references into the profile.
  LayoutModel(const Profile& profile,
              CollectiveOperation operation,
              std::optional<Algorithm> algorithm = {});

  // Nothing when no entry tells.
  [[nodiscard]] std::optional<LayoutEstimate> find(const Layout& layout, double bytes) const;

  // Throws Error when no entry tells.
  [[nodiscard]] LayoutEstimate estimate(const Layout& layout, double bytes) const;

  // How many times as long as the law says a transfer takes on a layout, told from two node counts
  // of its kind; 1 where there are no two.
  [[nodiscard]] double congestion(const Layout& layout) const;

  [[nodiscard]] const std::vector<MeasuredLayout>& measured() const { return measured_; }

 private:
  // How a law held between two node counts.
  struct Check {
    double congestion_exponent = 0;  // of the node count
    double spread = 0;               // of the logarithm, per unit of ln(node count)
  };

  [[nodiscard]] std::vector<MeasuredLayout> kin(const Layout& layout) const;
  [[nodiscard]] Check check(const MeasuredLayout& nearest, const MeasuredLayout& other) const;
  [[nodiscard]] Check check_of(const std::vector<MeasuredLayout>& kin) const;
  [[nodiscard]] double congestion(const std::vector<MeasuredLayout>& kin,
                                  const Layout& layout) const;
  [[nodiscard]] LawTime law(const MeasuredLayout& from,
                            const Layout& to,
                            double bytes,
                            double congestion = 1) const;
  [[nodiscard]] LayoutEstimate from_itself(const MeasuredLayout& itself, double bytes) const;
  [[nodiscard]] LayoutEstimate from_kin(const std::vector<MeasuredLayout>& kin,
                                        const Layout& layout,
                                        double bytes) const;
  [[nodiscard]] std::optional<LayoutEstimate> from_two_levels(const Layout& layout,
                                                              double bytes) const;

  std::string profile_name_;
  CollectiveOperation operation_;
  std::vector<MeasuredLayout> measured_;
};

}  // namespace moesim
