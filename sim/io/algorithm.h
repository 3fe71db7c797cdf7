#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// Which ports a group's traffic uses: those inside the nodes, those between them, or both at once.
enum class Span { kNode, kFabric, kBoth };

// How a collective's messages go; docs/model.md has the loads and start-ups of each. kDefault is
// the first of algorithms_of the operation; kFastest the one that takes the least time alone.
enum class Algorithm {
  kDefault,
  kDirect,
  kRing,
  kTree,
  kInSwitch,
  kHierarchical,
  kPipe,
  kDeduplicated,
  kFastest
};

// Which algorithm collectives of an operation take, over groups of a span (absent: of any).
struct AlgorithmChoice {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  std::optional<Span> span;
  Algorithm algorithm = Algorithm::kDefault;

  friend bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

const char* to_string(Algorithm algorithm);  // "IN_SWITCH"

// Those that carry out the operation, the default one first.
std::vector<Algorithm> algorithms_of(CollectiveOperation operation);

// The default one in place of kDefault.
Algorithm resolved(CollectiveOperation operation, Algorithm algorithm);

// What is wrong with an algorithm for an operation, with what to do about it; empty where it
// carries it out, or is kDefault or kFastest.
std::string algorithm_problem(CollectiveOperation operation, Algorithm algorithm);

// Reads "ALL_REDUCE=TREE", for any span. Throws Error located at "--algorithm …".
AlgorithmChoice parse_algorithm_choice(const std::string& text);

}  // namespace moesim
