#pragma once

#include <vector>

#include "sim/engine/link_patterns.h"
#include "sim/engine/partition.h"

namespace moesim {

// Ranks and media that behave alike. Media that nobody uses are kNone.
struct LinkClasses {
  Partition ranks;
  std::vector<int> of_medium;
  std::vector<int> representatives;  // of the classes of media: the lowest of each
};

// The coarsest partition at least as fine as `ranks` in which group instances of one class have
// members of the same classes and put the same loads on media of the same classes, and media of one
// class are used by instances of the same classes with the same loads, however often each. `groups`
// are the members of the groups of the Program.
LinkClasses refine_with_links(Partition ranks,
                              const std::vector<const Relation*>& groups,
                              const LinkPatterns& patterns,
                              int num_media);

// Every rank and medium on its own.
LinkClasses separate_links(Partition ranks, const LinkPatterns& patterns, int num_media);

}  // namespace moesim
