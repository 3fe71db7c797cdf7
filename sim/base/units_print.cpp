#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/units.h"

namespace moesim {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;
};

// From large to small, so that the first that fits is the one to print.
constexpr auto kTimeUnits = std::to_array<Unit>(
    {{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}, {"ns", 1'000}, {"ps", 1}});

constexpr auto kByteUnits = std::to_array<Unit>({{"TiB", std::int64_t{1} << 40},
                                                 {"GiB", std::int64_t{1} << 30},
                                                 {"MiB", std::int64_t{1} << 20},
                                                 {"KiB", std::int64_t{1} << 10},
                                                 {"B", 1}});

constexpr auto kRateUnits = std::to_array<Unit>({{"PB/s", 1'000'000'000'000'000},
                                                 {"TB/s", 1'000'000'000'000},
                                                 {"GB/s", 1'000'000'000},
                                                 {"MB/s", 1'000'000},
                                                 {"KB/s", 1'000}});

// In the largest unit of which `value`, not zero, is a whole number.
std::string format_whole(std::int64_t value, std::span<const Unit> units) {
  const auto divides = [value](const Unit& unit) { return value % unit.size == 0; };
  const Unit& unit = *std::find_if(units.begin(), units.end(), divides);
  return fmt::format("{} {}", value / unit.size, unit.name);
}

}  // namespace

std::string format_time(Time time) {
  const std::int64_t picoseconds = time.picoseconds();
  const double size = std::abs(static_cast<double>(picoseconds));
  for (const Unit& unit : kTimeUnits) {
    const auto unit_size = static_cast<double>(unit.size);
    // Three decimals round 0.9995 of a unit up to one whole: print it as such, not as 1000.000.
    if (unit.size > 1 && size >= 0.9999995 * unit_size) {
      return fmt::format("{:.3f} {}", static_cast<double>(picoseconds) / unit_size, unit.name);
    }
  }
  return picoseconds == 0 ? "0 s" : fmt::format("{} ps", picoseconds);
}

std::string format_bytes(std::int64_t bytes) {
  const double size = std::abs(static_cast<double>(bytes));
  for (const Unit& unit : kByteUnits) {
    const auto unit_size = static_cast<double>(unit.size);
    // Two decimals round 1023.995 up to 1024.00: print that as one of the next unit.
    if (unit.size == 1 || size < (1 - 0.005 / 1024) * unit_size) {
      continue;
    }
    if (bytes % unit.size == 0) {
      return fmt::format("{} {}", bytes / unit.size, unit.name);
    }
    return fmt::format("{:.2f} {}", static_cast<double>(bytes) / unit_size, unit.name);
  }
  return fmt::format("{} B", bytes);
}

std::string format_rate(double rate) {
  for (const Unit& unit : kRateUnits) {
    const auto unit_size = static_cast<double>(unit.size);
    // Four digits round 0.99995 of a unit up to one whole: print it as such, not as 1000.
    if (std::abs(rate) >= 0.99995 * unit_size) {
      return fmt::format("{:.4g} {}", rate / unit_size, unit.name);
    }
  }
  return fmt::format("{:.4g} B/s", rate);
}

std::string format_time_exact(Time time) {
  CHECK(time >= Time::zero());
  return time == Time::zero() ? "0 s" : format_whole(time.picoseconds(), kTimeUnits);
}

std::string format_bytes_exact(std::int64_t bytes) {
  CHECK(bytes >= 0);
  return bytes == 0 ? "0 B" : format_whole(bytes, kByteUnits);
}

}  // namespace moesim
