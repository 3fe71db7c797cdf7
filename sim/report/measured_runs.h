#pragma once

#include <optional>
#include <string>

namespace moesim {

// The runs of one Program that was executed again and again.
struct MeasuredRuns {
  int accepted = 0;
  int rejected = 0;  // too late to count
  double median_seconds = 0;
  double p25_seconds = 0;
  double lateness_seconds = 0;            // of a task; the largest of the accepted runs
  std::optional<double> delay_seconds{};  // of the iteration, likewise; stored ones may lack it
  std::optional<double> spread{};  // how well the median is known; nothing for fewer than six runs
  std::string stopped;             // why there were no more: "steady", "most", "disturbed"
};

}  // namespace moesim
