#pragma once

#include <string>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {

// Where a collective's measured time may be spent (`bottleneck`). Measured alone, it cannot tell.
struct BottleneckChoice {
  BottleneckPlace place = BottleneckPlace::kPort;
  std::string link{};  // of kLink: links of a kind, "node:*/gpu:* -- node:*/nvswitch:*"

  friend bool operator==(const BottleneckChoice&, const BottleneckChoice&) = default;
};

// The choices for the measured times of one span.
struct BottleneckChoices {
  Span span = Span::kNode;
  std::vector<BottleneckChoice> choices;
};

// Of each span of which the Programs use measured times: PORT, PRIVATE, and LINK for each kind of
// links that all of their collectives with such a time cross. Empty where they use none.
std::vector<BottleneckChoices> bottleneck_choices(const std::vector<const Program*>& programs,
                                                  const Cluster& cluster,
                                                  const Profile& profile);

// A choice for each span.
struct BottleneckPlacement {
  std::vector<Span> spans;
  std::vector<BottleneckChoice> choices;  // by span
};

// All combinations, the last span's choices varying fastest.
std::vector<BottleneckPlacement> bottleneck_placements(
    const std::vector<BottleneckChoices>& choices);

// The profile with the measured times of these spans spent there.
Profile placed(Profile profile, const BottleneckPlacement& placement);

// Whether the profile says so itself.
bool is_placed(const Profile& profile, const BottleneckPlacement& placement);

}  // namespace moesim
