#include "sim/program/gate_counts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// Rows of `total` that fall to part `part` of `num_parts` equal ones.
std::int64_t share(std::int64_t total, int part, int num_parts) {
  return total * (part + 1) / num_parts - total * part / num_parts;
}

// Of an expert's `num_blocks` blocks, what the block of the given occurrence holds. The blocks hold
// the domains in order; a domain's tokens spread evenly over its blocks.
std::int64_t block_count(const std::vector<int>& tokens, int occurrence, int num_blocks) {
  const auto num_domains = static_cast<int>(tokens.size());
  if (num_blocks % num_domains == 0) {
    const int num_parts = num_blocks / num_domains;
    return share(tokens[occurrence / num_parts], occurrence % num_parts, num_parts);
  }
  if (num_domains % num_blocks == 0) {
    const int num_parts = num_domains / num_blocks;
    const auto first = tokens.begin() + std::ptrdiff_t{occurrence} * num_parts;
    return std::accumulate(first, first + num_parts, std::int64_t{0});
  }
  return share(
      std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}), occurrence, num_blocks);
}

void check_routing(const Program& program, const Routing& routing, int last_expert) {
  CHECK(static_cast<int>(routing.tokens.size()) == program.num_ranks,
        "routing '{}' has {} ranks",
        routing.name,
        routing.tokens.size());
  for (const std::vector<int>& tokens : routing.tokens) {
    if (last_expert >= static_cast<int>(tokens.size())) {
      throw Error(
          fmt::format("routing '{}' lists {} experts and a gate names expert {}; list the "
                      "tokens of every expert",
                      routing.name,
                      tokens.size(),
                      last_expert));
    }
  }
}

}  // namespace

std::vector<int> source_ranks(const Program& program,
                              const GroupTable& groups,
                              int num_domains,
                              int gathered_over,
                              int rank) {
  if (gathered_over == kNone) {
    return {rank};
  }
  std::vector<int> sources(num_domains, rank);
  const int instance = groups.instance(gathered_over, rank);
  if (instance != kNone) {
    const std::vector<int>& members = program.groups[gathered_over].members[instance];
    std::copy_n(members.begin(), std::min(members.size(), sources.size()), sources.begin());
  }
  return sources;
}

RowCounts gate_counts(const Program& program,
                      const GroupTable& groups,
                      const Gate& gate,
                      int nominal_rows,
                      int gathered_over) {
  const Routing& routing = program.routings.at(gate.routing);
  std::map<int, int> num_blocks;
  for (const int expert : gate.experts) {
    ++num_blocks[expert];
  }
  check_routing(program, routing, num_blocks.empty() ? 0 : num_blocks.rbegin()->first);
  RowCounts result;
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    std::map<int, int> occurrences;
    std::vector<int>& counts = result.counts.emplace_back();
    const auto sources = source_ranks(program, groups, gate.domains, gathered_over, rank);
    for (const int expert : gate.experts) {
      std::vector<int> tokens;
      tokens.reserve(sources.size());
      for (const int source : sources) {
        tokens.push_back(routing.tokens[source][expert]);
      }
      const std::int64_t count = block_count(tokens, occurrences[expert]++, num_blocks[expert]);
      counts.push_back(static_cast<int>(std::min<std::int64_t>(count, nominal_rows)));
    }
  }
  return result;
}

}  // namespace moesim
