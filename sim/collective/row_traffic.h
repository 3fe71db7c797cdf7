#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/collective/member_place.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// One member of a group instance: (*ranks)[index], and its place there as places_of gives it.
struct Member {
  const std::vector<int>* ranks = nullptr;
  int index = 0;
  MemberPlace place;

  int rank() const { return (*ranks)[index]; }
};

// Rows that one member of an all-to-all sends and receives, by how far they go.
struct Exchange {
  std::int64_t sent_on_node = 0;
  std::int64_t received_on_node = 0;
  std::int64_t sent_off_node = 0;
  std::int64_t received_off_node = 0;
};

// Asks ValidRows once for what the layers of a model have in common: the same region of tensors
// with the same counts has as many valid rows in every layer. Keeps references to its arguments.
class RowTraffic {
 public:
  RowTraffic(const Program& program, const ValidRows& valid_rows);

  std::int64_t valid_rows(const Region& region, int rank);

  // Equal keys have equal rows moved from each to each, tensor by tensor: of a task whose parts are
  // unequal, over regions or by a routing.
  using RegionKey = std::array<std::int64_t, 8>;
  using RowsKey = std::tuple<int, RegionKey, RegionKey>;  // group, read, written
  RowsKey rows_key(const Task& task) const;

  // An all-to-all task over its regions, where not all rows are valid.
  Exchange exchange(const Cluster& cluster, const Task& task, const Member& member);

  // A hand-written all-to-all without regions that names a routing: member j has the j-th of the n
  // equal runs of experts. In tokens; `most` is what the member with the most tokens sends.
  struct Routed {
    Exchange tokens;
    std::int64_t most = 1;
  };
  Routed routed(const Cluster& cluster, const Task& task, const Member& member) const;

  // Tokens that such an all-to-all sends from one member of an instance to another, or keeps.
  std::int64_t routed_tokens(const Task& task,
                             const std::vector<int>& members,
                             int source,
                             int destination) const;

 private:
  using OfRanks = std::vector<std::optional<Exchange>>;

  // Where a region lies and whose counts it has: equal keys have equal rows on every rank.
  RegionKey key(const Region& region) const;
  void add_exchanges(const Cluster& cluster,
                     const Task& task,
                     const std::vector<int>& members,
                     OfRanks& of_ranks);

  const Program& program_;
  const ValidRows& valid_rows_;
  std::vector<int> first_tensor_;  // by tensor: the first with the same counts; kNone: full
  std::map<RegionKey, std::vector<std::optional<std::int64_t>>> rows_;  // by rank
  std::map<RowsKey, OfRanks> exchanges_;
};

}  // namespace moesim
