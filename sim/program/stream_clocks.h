#pragma once

#include <vector>

#include "sim/io/program.h"

namespace moesim {

// A vector clock: for each stream the last task that is over, or kNone. A value of the StreamClocks
// that made it; the default is the clock before everything.
struct StreamClock {
  int root = 0;
  int height = 0;  // 2^height streams
};

// Vector clocks over any number of streams, as persistent binary trees with a leaf for each stream.
// A clock shares all nodes but those of one path with the clock that it comes from, and what merges
// two clocks or compares them passes over the parts that they share, or of which one is later as a
// whole: thousands of streams cost what is touched, not tasks x streams.
class StreamClocks {
 public:
  int at(StreamClock clock, int stream) const;
  // The clock with `task` as the last of the stream.
  StreamClock with(StreamClock clock, int stream, int task);
  // For each stream the later of the two.
  StreamClock merged(StreamClock left, StreamClock right);
  // What is over in `left` as the last of the first stream in which `right` is behind, or kNone.
  int first_ahead(StreamClock left, StreamClock right);

 private:
  // Two halves, or a leaf, whose task is both the earliest and the latest.
  struct Node {
    int left = kEmpty;
    int right = kEmpty;
    int earliest = kNone;
    int latest = kNone;
  };

  // A tree of any height, without a task.
  static constexpr int kEmpty = 0;

  int add_leaf(int task);
  int add_inner(int left, int right);
  StreamClock lifted(StreamClock clock, int height);
  int with(int node, int height, int stream, int task);
  int merged(int left, int right);
  int first_ahead(int left, int right, int height) const;

  std::vector<Node> nodes_ = {Node{}};
};

}  // namespace moesim
