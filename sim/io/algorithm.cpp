#include "sim/io/algorithm.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/suggestion.h"

namespace moesim {
namespace {

constexpr std::array kNames = {"DEFAULT",
                               "DIRECT",
                               "RING",
                               "TREE",
                               "IN_SWITCH",
                               "HIERARCHICAL",
                               "PIPE",
                               "DEDUPLICATED",
                               "FASTEST"};

constexpr std::array kOperations = {CollectiveOperation::kAllReduce,
                                    CollectiveOperation::kAllGather,
                                    CollectiveOperation::kReduceScatter,
                                    CollectiveOperation::kAllToAll,
                                    CollectiveOperation::kShift,
                                    CollectiveOperation::kBroadcast};

// The index of a name among those that `name_of` gives, or an Error.
template <typename Values, typename NameOf>
auto find_named(const Values& values,
                const NameOf& name_of,
                const std::string& text,
                const std::string& location) {
  std::vector<std::string> names;
  names.reserve(std::size(values));
  for (const auto& value : values) {
    names.emplace_back(name_of(value));
  }
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    throw Error(location, fmt::format("no \"{}\"; {}", text, suggestion(text, names)));
  }
  return values[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

const char* to_string(Algorithm algorithm) {
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::vector<Algorithm> algorithms_of(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllToAll:
      return {
          Algorithm::kDirect, Algorithm::kHierarchical, Algorithm::kPipe, Algorithm::kDeduplicated};
    case CollectiveOperation::kShift:
      return {Algorithm::kDirect};
    case CollectiveOperation::kAllReduce:
      return {Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitch, Algorithm::kHierarchical};
    case CollectiveOperation::kAllGather:
    case CollectiveOperation::kReduceScatter:
      return {Algorithm::kRing, Algorithm::kInSwitch, Algorithm::kHierarchical};
    case CollectiveOperation::kBroadcast:
      return {Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitch};
  }
  return {};
}

Algorithm resolved(CollectiveOperation operation, Algorithm algorithm) {
  return algorithm == Algorithm::kDefault ? algorithms_of(operation).front() : algorithm;
}

std::string algorithm_problem(CollectiveOperation operation, Algorithm algorithm) {
  const std::vector<Algorithm> known = algorithms_of(operation);
  if (algorithm == Algorithm::kDefault || algorithm == Algorithm::kFastest ||
      std::find(known.begin(), known.end(), algorithm) != known.end()) {
    return {};
  }
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const Algorithm fitting : known) {
    names.emplace_back(to_string(fitting));
  }
  return fmt::format("{} is no algorithm of {}; use {}, DEFAULT or FASTEST",
                     to_string(algorithm),
                     to_string(operation),
                     fmt::join(names, ", "));
}

AlgorithmChoice parse_algorithm_choice(const std::string& text) {
  const std::string location = "--algorithm " + visible_in_line(text);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw Error(location, "no \"=\"; write OPERATION=NAME, such as ALL_REDUCE=TREE");
  }
  const std::array algorithms = {Algorithm::kDefault,
                                 Algorithm::kDirect,
                                 Algorithm::kRing,
                                 Algorithm::kTree,
                                 Algorithm::kInSwitch,
                                 Algorithm::kHierarchical,
                                 Algorithm::kPipe,
                                 Algorithm::kDeduplicated,
                                 Algorithm::kFastest};
  AlgorithmChoice choice;
  choice.operation = find_named(
      kOperations,
      [](CollectiveOperation operation) { return to_string(operation); },
      text.substr(0, equals),
      location);
  choice.algorithm = find_named(
      algorithms,
      [](Algorithm algorithm) { return to_string(algorithm); },
      text.substr(equals + 1),
      location);
  const std::string problem = algorithm_problem(choice.operation, choice.algorithm);
  if (!problem.empty()) {
    throw Error(location, problem);
  }
  return choice;
}

}  // namespace moesim
