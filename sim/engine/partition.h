#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace moesim {

// A partition of 0 .. n-1 into colours, refined step by step. Colours are dense and numbered by
// their lowest element.
class Partition {
 public:
  explicit Partition(int num_elements)
      : colours_(num_elements), num_colours_(num_elements > 0 ? 1 : 0) {}

  int num_colours() const { return num_colours_; }
  const std::vector<int>& colours() const { return colours_; }

  // Parts elements of one colour whose keys differ.
  template <typename Key>
  void split(const std::vector<Key>& keys) {
    if (keys.empty() || std::equal(keys.begin() + 1, keys.end(), keys.begin())) {
      return;
    }
    std::vector<int> order(colours_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<int>(i);
    }
    const auto key = [&](int i) { return std::pair<int, const Key&>(colours_[i], keys[i]); };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    std::vector<int> parts(colours_.size());
    int part = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
      part += key(order[i - 1]) != key(order[i]) ? 1 : 0;
      parts[order[i]] = part;
    }
    renumber(parts, part + 1);
  }

 private:
  void renumber(const std::vector<int>& parts, int num_parts);

  std::vector<int> colours_;
  int num_colours_;
};

// The coarsest partition at least as fine as `start` in which elements of one colour lie in sets of
// one colour, relation by relation; the colour of a set is the colours of its elements, however
// often each occurs. relations[i] holds disjoint sets; elements in none of them are alike.
using Relation = std::vector<std::vector<int>>;
Partition refine(Partition start, const std::vector<const Relation*>& relations);

// The colour of each set: equal for sets that hold the same colours. Dense, in order of first set.
std::vector<int> colour_sets(const Partition& partition, const Relation& sets);

}  // namespace moesim
