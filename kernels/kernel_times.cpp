#include "kernels/kernel_times.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/units.h"

namespace moesim {
namespace {

constexpr const char* kRow = "  {:<24}{:>8}{:>14}{:>14}{:>14}{:>14}\n";

std::string row(const KernelTime& time) {
  constexpr double kTera = 1e12;
  return fmt::format(
      kRow,
      time.name,
      time.count,
      format_time(time.total),
      format_time(Time::from_seconds(time.mean_seconds())),
      format_rate(time.bytes_per_second()),
      time.flops > 0 ? fmt::format("{:.1f} TFLOP/s", time.flops_per_second() / kTera) : "-");
}

}  // namespace

std::string to_text(const std::vector<KernelTime>& times) {
  if (times.empty()) {
    return "";
  }
  std::vector<KernelTime> sorted = times;
  std::stable_sort(sorted.begin(), sorted.end(), [](const KernelTime& a, const KernelTime& b) {
    return a.total > b.total;
  });
  std::string text = "\nkernels, each step alone, in an iteration of their own\n";
  text += fmt::format(kRow, "name", "steps", "total", "mean", "memory", "products");
  for (const KernelTime& time : sorted) {
    text += row(time);
  }
  return text;
}

}  // namespace moesim
