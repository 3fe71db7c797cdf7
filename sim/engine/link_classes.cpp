#include "sim/engine/link_classes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

namespace moesim {
namespace {

// A list of numbers that tells classes apart.
using Key = std::vector<std::int64_t>;

std::int64_t bits(double value) {
  return std::bit_cast<std::int64_t>(value);
}

// Numbers for keys, in order of first use.
class Numbering {
 public:
  int number(Key key) {
    const auto next = static_cast<int>(known_.size());
    return known_.try_emplace(std::move(key), next).first->second;
  }
  int size() const { return static_cast<int>(known_.size()); }

 private:
  std::map<Key, int> known_;
};

// One after the other, instances by their members and media, ranks by their instances, and media by
// who uses them, until nothing is split any more.
class Refiner {
 public:
  Refiner(Partition ranks,
          const std::vector<const Relation*>& groups,
          const LinkPatterns& patterns,
          int num_media)
      : ranks_(std::move(ranks)), groups_(groups), patterns_(patterns), media_(num_media, 0) {}

  LinkClasses run() {
    for (std::pair<int, int> before{0, 0}; before != sizes();) {
      before = sizes();
      ranks_ = refine(std::move(ranks_), groups_);
      colour_instances();
      split_ranks();
      split_media();
    }
    return take();
  }

 private:
  std::pair<int, int> sizes() const { return {ranks_.num_colours(), num_media_colours_}; }

  void colour_instances() {
    instances_.clear();
    for (const LinkPatterns::Pattern& pattern : patterns_.patterns) {
      const std::vector<int> colours = colour_sets(ranks_, *pattern.members);
      Numbering numbering;
      std::vector<int>& of_instance = instances_.emplace_back();
      for (size_t i = 0; i < pattern.loads.size(); ++i) {
        std::vector<std::pair<std::int64_t, std::int64_t>> loads;
        for (const MediumLoad& load : pattern.loads[i]) {
          loads.emplace_back(media_[load.medium], bits(load.seconds));
        }
        std::ranges::sort(loads);
        Key key{colours[i]};
        for (const auto& [medium, load] : loads) {
          key.insert(key.end(), {medium, load});
        }
        of_instance.push_back(numbering.number(std::move(key)));
      }
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
    struct Use {
      int pattern;
      int instance;
      std::int64_t load;
      auto operator<=>(const Use&) const = default;
    };
    std::vector<std::vector<Use>> uses(media_.size());
    for (size_t p = 0; p < patterns_.patterns.size(); ++p) {
      for (size_t i = 0; i < patterns_.patterns[p].loads.size(); ++i) {
        for (const MediumLoad& load : patterns_.patterns[p].loads[i]) {
          uses[load.medium].push_back({static_cast<int>(p), instances_[p][i], bits(load.seconds)});
        }
      }
    }
    Numbering numbering;
    for (size_t medium = 0; medium < media_.size(); ++medium) {
      std::ranges::sort(uses[medium]);
      Key key;
      for (const Use& use : uses[medium]) {
        key.insert(key.end(), {use.pattern, use.instance, use.load});
      }
      media_[medium] = numbering.number(std::move(key));
    }
    num_media_colours_ = numbering.size();
  }

  LinkClasses take();

  Partition ranks_;
  const std::vector<const Relation*>& groups_;
  const LinkPatterns& patterns_;
  std::vector<int> media_;
  int num_media_colours_ = 0;
  std::vector<std::vector<int>> instances_;  // [pattern][instance]
};

std::vector<bool> used_media(const LinkPatterns& patterns, int num_media) {
  std::vector<bool> is_used(num_media);
  for (const LinkPatterns::Pattern& pattern : patterns.patterns) {
    for (const std::vector<MediumLoad>& loads : pattern.loads) {
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

LinkClasses Refiner::take() {
  return make_classes(
      std::move(ranks_), media_, used_media(patterns_, static_cast<int>(media_.size())));
}

}  // namespace

LinkClasses refine_with_links(Partition ranks,
                              const std::vector<const Relation*>& groups,
                              const LinkPatterns& patterns,
                              int num_media) {
  if (patterns.patterns.empty()) {
    return {refine(std::move(ranks), groups), {}, {}};
  }
  return Refiner(std::move(ranks), groups, patterns, num_media).run();
}

LinkClasses separate_links(Partition ranks, const LinkPatterns& patterns, int num_media) {
  std::vector<int> colours(num_media);
  for (int medium = 0; medium < num_media; ++medium) {
    colours[medium] = medium;
  }
  return make_classes(std::move(ranks), colours, used_media(patterns, num_media));
}

}  // namespace moesim
