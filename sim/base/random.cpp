#include "sim/base/random.h"

#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

// Changes about half of the output's bits for any one changed input bit.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream)
    : state_(mix(mix(seed + kGoldenGamma) + stream)) {}

std::uint64_t Random::next() {
  state_ += kGoldenGamma;
  return mix(state_);
}

std::int64_t Random::uniform_int(std::int64_t first, std::int64_t last) {
  CHECK(first <= last, "empty range {}..{}", first, last);
  const auto base = static_cast<std::uint64_t>(first);
  const std::uint64_t count = static_cast<std::uint64_t>(last) - base + 1;
  if (count == 0) {  // All 2^64 values.
    return static_cast<std::int64_t>(next());
  }
  // Drop the 2^64 mod count smallest draws: the rest are a whole number of rounds over the range.
  const std::uint64_t dropped = (0 - count) % count;
  std::uint64_t draw = next();
  while (draw < dropped) {
    draw = next();
  }
  return static_cast<std::int64_t>(base + draw % count);
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double Random::uniform(double low, double high) {
  CHECK(low <= high, "empty range {}..{}", low, high);
  return low + (high - low) * uniform();
}

}  // namespace moesim
