// Builder and verifier on random programs, against an oracle that goes row by row. A failure prints
// the seed that replays it.
#include <algorithm>

#include <gmock/gmock.h>

#include "sim/program/verifier.h"
#include "tests/property/program_oracle.h"
#include "tests/property/random_program.h"

namespace moesim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ProgramOracle;
using testing::random_program;
using ::testing::SizeIs;

constexpr uint64_t kNumSeeds = 200;
constexpr int kNumTasks = 24;

// What the verifier says of the data; random collectives do not care for their sizes.
std::vector<Problem> data_problems(const Program& program) {
  std::vector<Problem> problems = verify(program).problems;
  std::erase_if(problems,
                [](const Problem& problem) { return problem.kind == ProblemKind::kByteMismatch; });
  return problems;
}

std::vector<std::string> texts(const std::vector<Problem>& problems) {
  std::vector<std::string> messages;
  for (const Problem& problem : problems) {
    messages.push_back(problem.message);
  }
  return messages;
}

// Runs the check on a fresh random program for every seed, up to the first that fails.
template <typename Check>
void for_each_seed(const Check& check) {
  for (uint64_t seed = 1; seed <= kNumSeeds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    Program program = random_program(random, kNumTasks);
    check(program, random);
  }
}

TEST(ProgramPropertyTest, DerivedWaitsAreEnough) {
  for_each_seed([](Program& program, [[maybe_unused]] Random& random) {
    EXPECT_TRUE(ProgramOracle(program).ok());
    EXPECT_THAT(texts(data_problems(program)), IsEmpty());
  });
}

// Without any one derived wait there is a race, and the verifier names just that wait.
TEST(ProgramPropertyTest, EveryDerivedWaitIsNeeded) {
  for_each_seed([](Program& program, [[maybe_unused]] Random& random) {
    for (int task = 0; task < kNumTasks; ++task) {
      for (const int wait : program.tasks[task].waits) {
        Program broken = program;
        std::erase(broken.tasks[task].waits, wait);
        const ProgramOracle oracle(broken);
        EXPECT_THAT(oracle.races(), ::testing::Contains(std::pair{wait, task}));
        const std::vector<Problem> problems = data_problems(broken);
        ASSERT_THAT(problems, SizeIs(1));
        EXPECT_EQ(problems[0].kind, ProblemKind::kRace);
        EXPECT_THAT(problems[0].tasks, ElementsAre(wait, task));
      }
    }
  });
}

TEST(ProgramPropertyTest, NeedlessWaitsAreNoProblem) {
  for_each_seed([](Program& program, [[maybe_unused]] Random& random) {
    for (int task = 1; task < kNumTasks; ++task) {
      std::vector<int>& waits = program.tasks[task].waits;
      waits.push_back(static_cast<int>(random.uniform_int(0, task - 1)));
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    }
    EXPECT_THAT(texts(data_problems(program)), IsEmpty());
  });
}

// Waits drawn at random are mostly wrong; the verifier finds a race exactly where there is one, and
// none that is not.
TEST(ProgramPropertyTest, RandomWaitsAreJudgedRightly) {
  for_each_seed([](Program& program, [[maybe_unused]] Random& random) {
    for (int task = 1; task < kNumTasks; ++task) {
      std::vector<int>& waits = program.tasks[task].waits;
      if (random.uniform_int(0, 9) == 0) {
        waits = {static_cast<int>(random.uniform_int(0, task - 1))};
      }
    }
    const ProgramOracle oracle(program);
    const std::vector<Problem> problems = data_problems(program);
    EXPECT_EQ(problems.empty(), oracle.races().empty());
    for (const Problem& problem : problems) {
      EXPECT_EQ(problem.kind, ProblemKind::kRace);
      EXPECT_THAT(oracle.races(),
                  ::testing::Contains(std::pair{problem.tasks.front(), problem.tasks.back()}))
          << problem.message;
    }
  });
}

// Tensors that nobody has filled, and sums that forget to read: the tasks are those of the oracle.
TEST(ProgramPropertyTest, UnwrittenReadsAndDoubleWritesAreThoseOfTheOracle) {
  for_each_seed([](Program& program, [[maybe_unused]] Random& random) {
    program.tensors[0].input = false;
    for (Task& task : program.tasks) {
      if (random.uniform_int(0, 1) == 0) {
        std::erase_if(task.reads, [](const Region& region) { return region.tensor == 0; });
      }
    }
    const ProgramOracle oracle(program);
    std::vector<int> unwritten;
    std::vector<int> doubled;
    for (const Problem& problem : data_problems(program)) {
      if (problem.kind == ProblemKind::kUnwrittenRead) {
        unwritten.push_back(problem.tasks.back());
      } else if (problem.kind == ProblemKind::kDoubleWrite) {
        doubled.push_back(problem.tasks.back());
      }
    }
    const auto sorted = [](std::vector<int> tasks) {
      std::sort(tasks.begin(), tasks.end());
      tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
      return tasks;
    };
    EXPECT_EQ(sorted(unwritten), sorted(oracle.unwritten_reads()));
    EXPECT_EQ(sorted(doubled), sorted(oracle.double_writes()));
  });
}

}  // namespace
}  // namespace moesim
