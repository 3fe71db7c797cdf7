#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// All steps of one name in an iteration: a kernel's, or "products", "copy", "fill".
struct KernelTime {
  std::string name;
  int64_t count = 0;
  Time total;
  int64_t bytes = 0;  // of memory, read and written, as their arguments say
  double flops = 0;   // of products; 0 for what memory bounds

  double mean_seconds() const { return total.seconds() / static_cast<double>(count); }
  // 0 where no time was measured.
  double bytes_per_second() const { return rate(static_cast<double>(bytes)); }
  double flops_per_second() const { return rate(flops); }

 private:
  double rate(double work) const { return total > Time::zero() ? work / total.seconds() : 0; }
};

// A table, the longest in all first; empty for no times.
std::string to_text(const std::vector<KernelTime>& times);

}  // namespace moesim
