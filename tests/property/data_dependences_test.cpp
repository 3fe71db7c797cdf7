// Leaving out dependences that others imply changes nothing that follows from them: a task depends,
// directly or through others, on the same tasks as when every earlier writer of what it reads is
// named. Random Programs, seeded; a failure prints its seed.
#include "sim/analysis/data_dependences.h"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "sim/program/overlap.h"
#include "tests/property/random_program.h"

namespace moesim {
namespace {

constexpr std::uint64_t kNumSeeds = 200;
constexpr int kNumTasks = 40;

using Dependences = std::vector<std::vector<int>>;  // [task]

// For each task all that it depends on, as a row of a matrix.
std::vector<std::vector<bool>> closure(const Dependences& dependences) {
  std::vector<std::vector<bool>> reached(dependences.size(), std::vector<bool>(dependences.size()));
  for (std::size_t task = 0; task < dependences.size(); ++task) {
    for (const int source : dependences[task]) {
      reached[task][source] = true;
      for (std::size_t earlier = 0; earlier < task; ++earlier) {
        reached[task][earlier] = reached[task][earlier] || reached[source][earlier];
      }
    }
  }
  return reached;
}

class EveryWriter {
 public:
  EveryWriter(const Program& program, int rank) : program_(program), ranks_{rank} {
    groups_.update(program);
  }

  Dependences dependences() const {
    const std::vector<int> tasks =
        tasks_of_rank(program_, RoleTable(program_), groups_, ranks_.front());
    Dependences result(program_.tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (reads_from(program_.tasks[tasks[i]], program_.tasks[tasks[k]])) {
          result[tasks[i]].push_back(tasks[k]);
        }
      }
    }
    return result;
  }

 private:
  bool reads_from(const Task& reader, const Task& writer) const {
    return std::ranges::any_of(reader.reads, [&](const Region& read) {
      return std::ranges::any_of(writer.writes, [&](const Region& write) {
        const std::optional<Footprint> from = seen(writer, write, Use::kWrite);
        const std::optional<Footprint> to = seen(reader, read, Use::kRead);
        return read.tensor == write.tensor && from && to &&
               overlap({program_, groups_, ranks_}, *from, *to);
      });
    });
  }

  std::optional<Footprint> seen(const Task& task, const Region& region, Use use) const {
    const auto where = make_footprint(program_, groups_, task, region, use);
    return where ? within({program_, groups_, ranks_}, *where) : std::nullopt;
  }

  const Program& program_;
  GroupTable groups_;
  std::vector<int> ranks_;
};

TEST(DataDependencesPropertyTest, ReachWhateverEveryWriterReaches) {
  int num_left_out = 0;
  for (std::uint64_t seed = 1; seed <= kNumSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    const Program program = testing::random_program(random, kNumTasks);
    GroupTable groups;
    groups.update(program);
    for (int rank = 0; rank < program.num_ranks; ++rank) {
      const Dependences found = data_dependences(program, RoleTable(program), groups, rank);
      const Dependences all = EveryWriter(program, rank).dependences();
      EXPECT_EQ(closure(found), closure(all)) << "rank " << rank;
      for (std::size_t task = 0; task < all.size(); ++task) {
        EXPECT_TRUE(std::ranges::includes(all[task], found[task])) << "rank " << rank;
        num_left_out += static_cast<int>(all[task].size() - found[task].size());
      }
    }
  }
  EXPECT_GT(num_left_out, 0);  // or the test has shown nothing
}

}  // namespace
}  // namespace moesim
