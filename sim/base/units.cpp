#include "sim/base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <system_error>

#include <fmt/core.h>

#include "sim/base/message.h"

namespace moesim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// What a parser reads: the words of its messages, its units and its largest value.
struct Quantity {
  std::string_view name;
  std::string_view example;
  double limit;
  std::string_view limit_text;
};

constexpr auto kTimeUnits = std::to_array<Unit>(  // in picoseconds
    {{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1}});

constexpr auto kByteUnits = std::to_array<Unit>({{"B", 1},
                                                 {"KB", 1e3},
                                                 {"MB", 1e6},
                                                 {"GB", 1e9},
                                                 {"TB", 1e12},
                                                 {"KiB", 0x1p10},
                                                 {"MiB", 0x1p20},
                                                 {"GiB", 0x1p30},
                                                 {"TiB", 0x1p40}});

constexpr auto kBitUnits = std::to_array<Unit>(  // in bytes
    {{"b", 1.0 / 8}, {"Kb", 1e3 / 8}, {"Mb", 1e6 / 8}, {"Gb", 1e9 / 8}, {"Tb", 1e12 / 8}});

constexpr auto kFlopUnits = std::to_array<Unit>({{"FLOP", 1},
                                                 {"KFLOP", 1e3},
                                                 {"MFLOP", 1e6},
                                                 {"GFLOP", 1e9},
                                                 {"TFLOP", 1e12},
                                                 {"PFLOP", 1e15}});

constexpr double kPicosecondsPerHour = 3600e12;

[[noreturn]] void fail(std::string_view text, std::string_view wrong, const Quantity& quantity) {
  throw UnitError(fmt::format(
      R"({}: {}; write {} such as "{}")", in_quotes(text), wrong, quantity.name, quantity.example));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

struct NumberAndUnit {
  double number;
  std::string_view unit;
};

NumberAndUnit split(std::string_view text, const Quantity& quantity) {
  const std::string_view body = trimmed(text);
  NumberAndUnit parts{};
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), parts.number);
  if (error == std::errc::invalid_argument) {
    fail(text, "does not start with a number", quantity);
  }
  if (error == std::errc::result_out_of_range || !std::isfinite(parts.number)) {
    fail(text, "the number is not finite", quantity);
  }
  if (std::signbit(parts.number)) {
    fail(text, "must not be negative", quantity);
  }
  parts.unit = trimmed(body.substr(static_cast<std::size_t>(end - body.data())));
  if (parts.unit.empty()) {
    fail(text, "the unit is missing", quantity);
  }
  return parts;
}

// The factor of `name`, or 0 where `units` does not have it.
double factor_of(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.name == name) {
      return unit.factor;
    }
  }
  return 0;
}

double checked(double value, std::string_view text, const Quantity& quantity) {
  if (value > quantity.limit) {
    fail(text, fmt::format("more than {}", quantity.limit_text), quantity);
  }
  return value;
}

// number * factor, where the factor 0 stands for an unknown unit.
double parse_with(double factor,
                  const NumberAndUnit& parts,
                  std::string_view text,
                  const Quantity& quantity) {
  if (factor == 0) {
    fail(text, fmt::format("unknown unit {}", in_quotes(parts.unit)), quantity);
  }
  return checked(parts.number * factor, text, quantity);
}

double positive(double value, std::string_view text, const Quantity& quantity) {
  if (value == 0) {
    fail(text, "must be more than zero", quantity);
  }
  return value;
}

// The part of "unit/s" before the slash; empty, so unknown, without it.
std::string_view per_second(std::string_view unit) {
  return unit.ends_with("/s") ? unit.substr(0, unit.size() - 2) : std::string_view();
}

double parse_slope(std::string_view text,
                   std::span<const Unit> denominators,
                   const Quantity& quantity) {
  const NumberAndUnit parts = split(text, quantity);
  const std::size_t slash = parts.unit.find('/');
  double factor = 0;
  if (slash != std::string_view::npos) {
    const double denominator = factor_of(trimmed(parts.unit.substr(slash + 1)), denominators);
    const double time = factor_of(trimmed(parts.unit.substr(0, slash)), kTimeUnits);
    factor = denominator > 0 ? time / Time::kPicosecondsPerSecond / denominator : 0;
  }
  return parse_with(factor, parts, text, quantity);
}

}  // namespace

Time parse_time(std::string_view text) {
  constexpr Quantity kTime = {"a time", "1.5 us", kPicosecondsPerHour, "an hour"};
  const NumberAndUnit parts = split(text, kTime);
  const double picoseconds = parse_with(factor_of(parts.unit, kTimeUnits), parts, text, kTime);
  return Time::from_picoseconds(std::llround(picoseconds));
}

std::int64_t parse_bytes(std::string_view text) {
  constexpr Quantity kBytes = {"a size", "64 MiB", 1e15, "1000 TB"};
  const NumberAndUnit parts = split(text, kBytes);
  const double bytes = parse_with(factor_of(parts.unit, kByteUnits), parts, text, kBytes);
  if (bytes != std::floor(bytes)) {
    fail(text, "not a whole number of bytes", kBytes);
  }
  return static_cast<std::int64_t>(bytes);
}

double parse_rate(std::string_view text) {
  constexpr Quantity kRate = {"a rate", "200 Gb/s\" (bits) or \"25 GB/s", 1e18, "1e18 B/s"};
  const NumberAndUnit parts = split(text, kRate);
  const std::string_view unit = per_second(parts.unit);
  const double factor = factor_of(unit, kByteUnits) + factor_of(unit, kBitUnits);
  return positive(parse_with(factor, parts, text, kRate), text, kRate);
}

double parse_time_per_byte(std::string_view text) {
  return parse_slope(text, kByteUnits, {"a time per byte", "0.306 ns/KB", 1, "1 s/B"});
}

double parse_time_per_flop(std::string_view text) {
  return parse_slope(text, kFlopUnits, {"a time per FLOP", "45.9 ns/MFLOP", 1, "1 s/FLOP"});
}

}  // namespace moesim
