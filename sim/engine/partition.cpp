#include "sim/engine/partition.h"

#include <map>

namespace moesim {

void Partition::renumber(const std::vector<int>& parts, int num_parts) {
  constexpr int kUnseen = -1;
  std::vector<int> colour_of_part(num_parts, kUnseen);
  num_colours_ = 0;
  for (std::size_t i = 0; i < colours_.size(); ++i) {
    int& colour = colour_of_part[parts[i]];
    if (colour == kUnseen) {
      colour = num_colours_++;
    }
    colours_[i] = colour;
  }
}

std::vector<int> colour_sets(const Partition& partition, const Relation& sets) {
  std::vector<int> set_colours;
  set_colours.reserve(sets.size());
  if (partition.num_colours() == 1) {
    set_colours.assign(sets.size(), 0);
    return set_colours;
  }
  std::map<std::vector<int>, int> known;
  for (const std::vector<int>& set : sets) {
    std::vector<int> colours;
    colours.reserve(set.size());
    for (const int element : set) {
      colours.push_back(partition.colours()[element]);
    }
    std::sort(colours.begin(), colours.end());
    colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
    const int next = static_cast<int>(known.size());
    set_colours.push_back(known.emplace(std::move(colours), next).first->second);
  }
  return set_colours;
}

Partition refine(Partition start, const std::vector<const Relation*>& relations) {
  constexpr int kInNoSet = -1;
  Partition partition = std::move(start);
  for (int before = 0; before != partition.num_colours();) {
    before = partition.num_colours();
    for (const Relation* sets : relations) {
      const std::vector<int> set_colours = colour_sets(partition, *sets);
      std::vector<int> keys(partition.colours().size(), kInNoSet);
      for (std::size_t set = 0; set < sets->size(); ++set) {
        for (const int element : (*sets)[set]) {
          keys[element] = set_colours[set];
        }
      }
      partition.split(keys);
    }
  }
  return partition;
}

}  // namespace moesim
