#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace moesim {

// A seeded generator whose numbers are the same with every compiler and library.
// (The distributions of <random> are not: each library is free to draw as it likes.)
// SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // An independent generator for the stream-th use of the same seed (a rank, a layer, a trial):
  // what one use draws does not move the others.
  Random(std::uint64_t seed, std::uint64_t stream);

  // All 64-bit values are equally likely.
  std::uint64_t next();
  // Uniform over the integers first..last, both included; first <= last.
  std::int64_t uniform_int(std::int64_t first, std::int64_t last);
  // Uniform over [0, 1), a multiple of 2^-53.
  double uniform();
  // Uniform over [low, high); low <= high.
  double uniform(double low, double high);

  // Every order of `values` is equally likely (Fisher-Yates).
  template <typename Value>
  void shuffle(std::vector<Value>& values) {
    for (std::size_t count = values.size(); count > 1; --count) {
      const auto last = static_cast<std::int64_t>(count) - 1;
      std::swap(values[count - 1], values[static_cast<std::size_t>(uniform_int(0, last))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace moesim
