#include "sim/program/stream_clocks.h"

#include <algorithm>
#include <bit>

namespace moesim {

int StreamClocks::at(StreamClock clock, int stream) const {
  if (stream >= 1 << clock.height) {
    return kNone;
  }
  int node = clock.root;
  for (int bit = clock.height - 1; bit >= 0; --bit) {
    node = (stream >> bit & 1) != 0 ? nodes_[node].right : nodes_[node].left;
  }
  return nodes_[node].latest;
}

StreamClock StreamClocks::with(StreamClock clock, int stream, int task) {
  const auto needed = static_cast<int>(std::bit_width(static_cast<unsigned>(stream)));
  const StreamClock wide = lifted(clock, std::max(clock.height, needed));
  return {with(wide.root, wide.height, stream, task), wide.height};
}

StreamClock StreamClocks::merged(StreamClock left, StreamClock right) {
  const int height = std::max(left.height, right.height);
  return {merged(lifted(left, height).root, lifted(right, height).root), height};
}

int StreamClocks::first_ahead(StreamClock left, StreamClock right) {
  const int height = std::max(left.height, right.height);
  return first_ahead(lifted(left, height).root, lifted(right, height).root, height);
}

int StreamClocks::add_leaf(int task) {
  nodes_.push_back({.earliest = task, .latest = task});
  return static_cast<int>(nodes_.size()) - 1;
}

int StreamClocks::add_inner(int left, int right) {
  nodes_.push_back({.left = left,
                    .right = right,
                    .earliest = std::min(nodes_[left].earliest, nodes_[right].earliest),
                    .latest = std::max(nodes_[left].latest, nodes_[right].latest)});
  return static_cast<int>(nodes_.size()) - 1;
}

// The same clock with room for more streams.
StreamClock StreamClocks::lifted(StreamClock clock, int height) {
  for (; clock.height < height; ++clock.height) {
    clock.root = clock.root == kEmpty ? kEmpty : add_inner(clock.root, kEmpty);
  }
  return clock;
}

int StreamClocks::with(int node, int height, int stream, int task) {
  if (height == 0) {
    return add_leaf(task);
  }
  const auto [left, right, earliest, latest] = nodes_[node];
  const bool in_right = (stream >> (height - 1) & 1) != 0;
  return in_right ? add_inner(left, with(right, height - 1, stream, task))
                  : add_inner(with(left, height - 1, stream, task), right);
}

int StreamClocks::merged(int left, int right) {
  if (left == right || nodes_[left].earliest >= nodes_[right].latest) {
    return left;
  }
  if (nodes_[right].earliest >= nodes_[left].latest) {
    return right;
  }
  const int first = merged(nodes_[left].left, nodes_[right].left);
  const int second = merged(nodes_[left].right, nodes_[right].right);
  for (const int whole : {left, right}) {
    if (nodes_[whole].left == first && nodes_[whole].right == second) {
      return whole;
    }
  }
  return add_inner(first, second);
}

int StreamClocks::first_ahead(int left, int right, int height) const {
  if (left == right || nodes_[left].latest <= nodes_[right].earliest) {
    return kNone;
  }
  if (height == 0) {
    return nodes_[left].latest;
  }
  const int found = first_ahead(nodes_[left].left, nodes_[right].left, height - 1);
  return found != kNone ? found : first_ahead(nodes_[left].right, nodes_[right].right, height - 1);
}

}  // namespace moesim
