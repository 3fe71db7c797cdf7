#include "sim/engine/link_classes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

#include "sim/base/random.h"

namespace moesim {
namespace {

// Stands for a multiset of numbers, whose order does not matter: sums of two independent mixes of
// each. Different multisets have the same one with a probability of about 2^-128 (Clarke et al.,
// "Incremental multiset hash functions", 2003: additive hashes).
struct Fingerprint {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  void add(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::uint64_t mixed = Random(Random(Random(a).next() ^ b).next() ^ c).next();
    first += mixed;
    second += Random(mixed ^ 0x5851f42d4c957f2d).next();
  }

  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

// Numbers for fingerprints: equal ones have the same, in order of first use.
std::vector<int> numbered(const std::vector<Fingerprint>& prints, int& count) {
  std::vector<int> order(prints.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<int>(i);
  }
  const auto key = [&](int i) { return std::pair(prints[i], i); };
  std::ranges::sort(order, [&](int a, int b) { return key(a) < key(b); });
  std::vector<int> first(prints.size());  // that has the same fingerprint
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_same = i > 0 && prints[order[i]] == prints[order[i - 1]];
    first[order[i]] = is_same ? first[order[i - 1]] : order[i];
  }
  count = 0;
  std::vector<int> numbers(prints.size());
  for (size_t i = 0; i < prints.size(); ++i) {
    numbers[i] = first[i] == static_cast<int>(i) ? count++ : numbers[first[i]];
  }
  return numbers;
}

// One after the other, instances by their members and media, ranks by their instances, and media by
// who uses them, until nothing is split any more.
class Refiner {
 public:
  Refiner(Partition ranks,
          const std::vector<const Relation*>& groups,
          const LinkPatterns& patterns,
          int num_media)
      : ranks_(std::move(ranks)), groups_(groups), patterns_(patterns), media_(num_media, 0) {}

  void run() {
    for (std::pair<int, int> before{0, 0}; before != sizes();) {
      before = sizes();
      ranks_ = refine(std::move(ranks_), groups_);
      colour_instances();
      split_ranks();
      split_media();
    }
  }

  Partition take_ranks() { return std::move(ranks_); }
  const std::vector<int>& media() const { return media_; }

 private:
  std::pair<int, int> sizes() const { return {ranks_.num_colours(), num_media_colours_}; }

  void colour_instances() {
    instances_.clear();
    for (const LinkPatterns::Pattern& pattern : patterns_.patterns) {
      const std::vector<int> colours = colour_sets(ranks_, *pattern.members);
      std::vector<Fingerprint> prints(colours.size());
      for (size_t i = 0; i < prints.size(); ++i) {
        prints[i].add(0, static_cast<std::uint64_t>(colours[i]), 0);
        for (const MediumLoad& load : pattern.loads->of_instance[i]) {
          prints[i].add(1, static_cast<std::uint64_t>(media_[load.medium]), bits(load.seconds));
        }
      }
      int count = 0;
      instances_.push_back(numbered(prints, count));
    }
  }

  void split_ranks() {
    for (size_t p = 0; p < patterns_.patterns.size(); ++p) {
      std::vector<int> keys(ranks_.colours().size(), kNone);
      const Relation& sets = *patterns_.patterns[p].members;
      for (size_t i = 0; i < sets.size(); ++i) {
        for (const int rank : sets[i]) {
          keys[rank] = instances_[p][i];
        }
      }
      ranks_.split(keys);
    }
  }

  void split_media() {
    std::vector<Fingerprint> prints(media_.size());
    for (size_t p = 0; p < patterns_.patterns.size(); ++p) {
      const auto& loads = patterns_.patterns[p].loads->of_instance;
      for (size_t i = 0; i < loads.size(); ++i) {
        for (const MediumLoad& load : loads[i]) {
          prints[load.medium].add(
              p, static_cast<std::uint64_t>(instances_[p][i]), bits(load.seconds));
        }
      }
    }
    media_ = numbered(prints, num_media_colours_);
  }

  Partition ranks_;
  const std::vector<const Relation*>& groups_;
  const LinkPatterns& patterns_;
  std::vector<int> media_;
  int num_media_colours_ = 0;
  std::vector<std::vector<int>> instances_;  // [pattern][instance]
};

std::vector<bool> used_media(const LinkPatterns& patterns, size_t num_media) {
  std::vector<bool> is_used(num_media);
  for (const LinkPatterns::Pattern& pattern : patterns.patterns) {
    for (const std::vector<MediumLoad>& loads : pattern.loads->of_instance) {
      for (const MediumLoad& load : loads) {
        is_used[load.medium] = true;
      }
    }
  }
  return is_used;
}

LinkClasses make_classes(Partition ranks,
                         const std::vector<int>& colours,
                         const std::vector<bool>& is_used) {
  LinkClasses classes{std::move(ranks), std::vector<int>(colours.size(), kNone), {}};
  std::map<int, int> class_of_colour;
  for (int medium = 0; medium < std::ssize(colours); ++medium) {
    if (!is_used[medium]) {
      continue;
    }
    const auto next = static_cast<int>(classes.representatives.size());
    const auto [found, is_new] = class_of_colour.try_emplace(colours[medium], next);
    if (is_new) {
      classes.representatives.push_back(medium);
    }
    classes.of_medium[medium] = found->second;
  }
  return classes;
}

}  // namespace

LinkClasses refine_with_links(Partition ranks,
                              const std::vector<const Relation*>& groups,
                              const LinkPatterns& patterns,
                              int num_media) {
  if (patterns.patterns.empty()) {
    return {refine(std::move(ranks), groups), {}, {}};
  }
  Refiner refiner(std::move(ranks), groups, patterns, num_media);
  refiner.run();
  return make_classes(
      refiner.take_ranks(), refiner.media(), used_media(patterns, refiner.media().size()));
}

LinkClasses separate_links(Partition ranks, const LinkPatterns& patterns, int num_media) {
  std::vector<int> colours(num_media);
  for (int medium = 0; medium < num_media; ++medium) {
    colours[medium] = medium;
  }
  return make_classes(std::move(ranks), colours, used_media(patterns, colours.size()));
}

}  // namespace moesim
