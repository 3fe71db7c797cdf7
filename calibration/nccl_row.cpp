#include "calibration/nccl_row.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/message.h"

namespace moesim {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::size_t kHalfColumns = 4;
constexpr double kMicrosecond = 1e-6;
constexpr double kGigabyte = 1e9;
constexpr double kLongestUs = 3600e6;  // an hour, as in profiles

// No link of a GPU is near this: the largest, NVLink 5, carries 0.9 TB/s each way.
constexpr double kImpossibleBusbw = 10'000;
// The same transfer in another buffer does not take ten times as long.
constexpr double kImpossibleRatio = 10;
// In nccl-tests' old column `error`, the largest deviation: rounding of half precision gives 1e-2.
constexpr double kWorstRounding = 0.05;
// Bandwidths have two decimals, times four digits.
constexpr double kBandwidthStep = 0.0051;
constexpr double kRelativeStep = 0.003;

struct DataType {
  std::string_view name;
  std::int64_t bytes;
};
constexpr auto kTypes = std::to_array<DataType>({{"int8", 1},
                                                 {"uint8", 1},
                                                 {"char", 1},
                                                 {"f8e4m3", 1},
                                                 {"f8e5m2", 1},
                                                 {"fp8_e4m3", 1},
                                                 {"fp8_e5m2", 1},
                                                 {"half", 2},
                                                 {"bfloat16", 2},
                                                 {"int", 4},
                                                 {"int32", 4},
                                                 {"uint32", 4},
                                                 {"float", 4},
                                                 {"int64", 8},
                                                 {"uint64", 8},
                                                 {"double", 8}});

const DataType* find_type(std::string_view name) {
  const auto* found = std::find_if(
      kTypes.begin(), kTypes.end(), [name](const DataType& type) { return type.name == name; });
  return found == kTypes.end() ? nullptr : found;
}

template <typename Number>
std::optional<Number> number(std::string_view word) {
  Number value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = failure == std::errc() && end == word.data() + word.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool is_digits(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// A half, or why it is left out.
struct HalfReading {
  std::optional<NcclHalf> half;
  std::string dropped;
};

HalfReading without(std::string reason) {
  return {.half = std::nullopt, .dropped = std::move(reason)};
}

// What the row and the run say, which a half must agree with.
struct Expected {
  std::int64_t bytes = 0;
  double busbw_factor = 1;
};

bool agrees(double printed, double value) {
  return std::abs(printed - value) <= kBandwidthStep + kRelativeStep * value;
}

// Empty where the result was right, or not checked (N/A).
std::string wrong_result(std::string_view word) {
  if (word == "N/A") {
    return "";
  }
  const std::optional<double> value = number<double>(word);
  if (!value || !(*value >= 0)) {
    return fmt::format("{} stands in the column of errors", in_quotes(word));
  }
  const bool is_deviation = word.find_first_of(".eE") != std::string_view::npos;
  if (*value > (is_deviation ? kWorstRounding : 0)) {
    return fmt::format("its result was wrong ({})", word);
  }
  return "";
}

HalfReading read_half(const Words& words, std::size_t first, const Expected& expected) {
  const auto time = number<double>(words[first]);
  const auto algbw = number<double>(words[first + 1]);
  const auto busbw = number<double>(words[first + 2]);
  if (!time || !algbw || !busbw) {
    const std::size_t bad = first + (!time ? 0U : !algbw ? 1U : 2U);
    return without(fmt::format("{} is no number", in_quotes(words[bad])));
  }
  if (!(*time > 0) || !(*time <= kLongestUs) || !(*algbw >= 0) || !(*busbw >= 0)) {
    return without(fmt::format("no time that a transfer takes ({} us)", words[first]));
  }
  const NcclHalf half = {.seconds = *time * kMicrosecond, .algbw = *algbw, .busbw = *busbw};
  const double rate = static_cast<double>(expected.bytes) / half.seconds / kGigabyte;
  if (!agrees(half.algbw, rate)) {
    return without(fmt::format(
        "algbw is not size over time: {} against {:.2f}; shifted or cut", words[first + 1], rate));
  }
  if (!agrees(half.busbw, rate * expected.busbw_factor)) {
    return without(
        fmt::format("busbw is {} and not the {:.2f} of this collective and number of "
                    "ranks",
                    words[first + 2],
                    rate * expected.busbw_factor));
  }
  if (half.busbw > kImpossibleBusbw) {
    return without(fmt::format("{} GB/s is more than any link carries", words[first + 2]));
  }
  if (std::string wrong = wrong_result(words[first + 3]); !wrong.empty()) {
    return without(std::move(wrong));
  }
  return {.half = half, .dropped = ""};
}

// The word where the halves begin; words.size() where their number fits nothing.
std::size_t first_half(const Words& words) {
  constexpr std::size_t kType = 2;
  std::size_t at = kType + 1;
  if (at < words.size() && words[at] != "N/A" && !number<double>(words[at])) {
    ++at;  // the operator; blank for collectives without one in some versions
  }
  const std::size_t left = words.size() - std::min(at, words.size());
  const bool has_root = left % kHalfColumns == 1;
  const bool fits =
      left - (has_root ? 1 : 0) == kHalfColumns || left - (has_root ? 1 : 0) == 2 * kHalfColumns;
  return fits ? at + (has_root ? 1 : 0) : words.size();
}

// The bytes of the row, or why there are none.
std::string read_size(const Words& words,
                      const NcclCollective& collective,
                      int ranks,
                      std::int64_t& bytes) {
  const auto size = number<std::int64_t>(words[0]);
  const auto count = words.size() > 1 ? number<std::int64_t>(words[1]) : std::nullopt;
  const DataType* type = words.size() > 2 ? find_type(words[2]) : nullptr;
  if (!size || !count || type == nullptr) {
    return words.size() < 3 ? "cut off" : "no size, count and data type: fused or shifted columns";
  }
  if (*size == 0) {
    return "size 0: nothing was sent";
  }
  const std::int64_t unit = type->bytes * (collective.counts_parts ? ranks : 1);
  if (*count != *size / unit || *size % unit != 0) {
    return fmt::format(
        "size {} is not {} x {} of {} bytes{}: shifted columns, or another "
        "collective or number of ranks",
        *size,
        *count,
        type->name,
        type->bytes,
        collective.counts_parts ? fmt::format(" x {} ranks", ranks) : "");
  }
  bytes = *size;
  return "";
}

// Both halves cannot be right; the out-of-place one is kept.
void drop_nonsense_in_place(NcclRowReading& reading) {
  NcclRow& row = *reading.row;
  if (!row.out_of_place || !row.in_place) {
    return;
  }
  const double ratio = row.out_of_place->seconds / row.in_place->seconds;
  if (ratio > kImpossibleRatio || ratio < 1 / kImpossibleRatio) {
    reading.dropped = fmt::format("in place: {:.4g} us beside {:.4g} us out of place",
                                  row.in_place->seconds / kMicrosecond,
                                  row.out_of_place->seconds / kMicrosecond);
    row.in_place.reset();
  }
}

}  // namespace

std::vector<double> NcclRow::times() const {
  std::vector<double> all;
  for (const auto& half : {out_of_place, in_place}) {
    if (half) {
      all.push_back(half->seconds);
    }
  }
  return all;
}

double NcclRow::seconds() const {
  const std::vector<double> all = times();
  CHECK(!all.empty());
  return all.size() == 1 ? all[0] : (all[0] + all[1]) / 2;
}

bool looks_like_nccl_row(const std::vector<std::string_view>& words) {
  const bool begins = !words.empty() && is_digits(words[0]);
  const bool has_type = std::any_of(
      words.begin(), words.end(), [](std::string_view word) { return find_type(word) != nullptr; });
  return begins && (has_type || words.size() == 1 || is_digits(words[1]));
}

NcclRowReading read_nccl_row(const std::vector<std::string_view>& words,
                             const NcclCollective& collective,
                             int ranks) {
  NcclRowReading reading;
  Expected expected{.bytes = 0, .busbw_factor = busbw_factor(collective, ranks)};
  reading.dropped = read_size(words, collective, ranks, expected.bytes);
  if (!reading.dropped.empty()) {
    return reading;
  }
  const std::size_t first = first_half(words);
  if (first == words.size()) {
    reading.dropped = fmt::format("{} columns: a field is cut off or missing", words.size());
    return reading;
  }
  HalfReading out = read_half(words, first, expected);
  HalfReading in;
  if (collective.in_place && words.size() - first > kHalfColumns) {
    in = read_half(words, first + kHalfColumns, expected);
  }
  if (!out.half && !in.half) {
    reading.dropped = "out of place: " + out.dropped;
    return reading;
  }
  reading.row =
      NcclRow{.line = 0, .bytes = expected.bytes, .out_of_place = out.half, .in_place = in.half};
  if (!out.half || !in.dropped.empty()) {
    reading.dropped = !out.half ? "out of place: " + out.dropped : "in place: " + in.dropped;
  }
  drop_nonsense_in_place(reading);
  return reading;
}

}  // namespace moesim
