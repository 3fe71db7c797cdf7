// The design's appendix: its programs, built from regions alone, are clean, and the derived waits
// are exactly those that a reader finds by hand.
#include <gmock/gmock.h>

#include "sim/program/verifier.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using ::testing::ElementsAre;
using testing::ExampleSizes;
using testing::fsmoe_program;
using ::testing::IsEmpty;
using testing::parm_s2_program;
using testing::task_named;

std::vector<std::string> waits_of(const Program& program, const std::string& name) {
  std::vector<std::string> names;
  for (const int wait : program.tasks[task_named(program, name)].waits) {
    names.push_back(program.tasks[wait].name);
  }
  return names;
}

std::vector<std::string> messages(const Verdict& verdict) {
  std::vector<std::string> result;
  for (const Problem& problem : verdict.problems) {
    result.push_back(problem.message);
  }
  return result;
}

// Per chunk D -> G -> E -> R -> C; streams give the rest. T = 5 rows in 2 chunks: [0,2), [2,5).
TEST(AppendixTest, FsmoeForwardHasOneWaitPerChunkAndStep) {
  ExampleSizes sizes;
  sizes.forward_degree = 2;
  sizes.backward = false;
  const Program program = fsmoe_program(sizes);
  EXPECT_THAT(messages(verify(program)), IsEmpty());
  EXPECT_THAT(waits_of(program, "l0.f.gate"), ElementsAre("l0.f.mp_rs"));
  EXPECT_THAT(waits_of(program, "l0.f.order"), IsEmpty());
  EXPECT_THAT(waits_of(program, "l0.f.dispatch.0"), ElementsAre("l0.f.order"));
  EXPECT_THAT(waits_of(program, "l0.f.dispatch.1"), IsEmpty());
  EXPECT_THAT(waits_of(program, "l0.f.gather.1"), ElementsAre("l0.f.dispatch.1"));
  EXPECT_THAT(waits_of(program, "l0.f.expert.0"), ElementsAre("l0.f.gather.0"));
  EXPECT_THAT(waits_of(program, "l0.f.scatter.1"), ElementsAre("l0.f.expert.1"));
  EXPECT_THAT(waits_of(program, "l0.f.combine.1"), ElementsAre("l0.f.scatter.1"));
  // combine.1 is the last of its stream: combine.0 is over with it.
  EXPECT_THAT(waits_of(program, "l0.f.unorder"), ElementsAre("l0.f.combine.1"));
  EXPECT_THAT(waits_of(program, "l0.f.mp_ag"), ElementsAre("l0.f.unorder"));
}

TEST(AppendixTest, FsmoeWithUnequalDegreesAndUnevenChunksIsClean) {
  ExampleSizes sizes;
  sizes.layers = 3;
  sizes.forward_degree = 2;
  sizes.backward_degree = 3;
  const Program program = fsmoe_program(sizes);
  EXPECT_THAT(messages(verify(program)), IsEmpty());
  // Chunk 1 of 3 backward, rows [1,3), lies in both forward chunks of `gath`, long over by then.
  EXPECT_THAT(waits_of(program, "l2.b.expert.1"), ElementsAre("l2.b.gather.1"));
}

// In step i, rank q sends block q+i of eo to rank q+i and gathers over mp what it received; the
// blocks of different steps never meet, so nothing but the step's own shift is waited for.
TEST(AppendixTest, ParmS2ForwardOverlapsShiftsAndGathers) {
  ExampleSizes sizes;
  sizes.rows_per_expert = 3;
  const Program program = parm_s2_program(sizes);
  EXPECT_THAT(messages(verify(program)), IsEmpty());
  EXPECT_THAT(waits_of(program, "l0.f.shift.0"), ElementsAre("l0.f.expert"));
  for (int i = 0; i < 4; ++i) {
    const std::string step = std::to_string(i);
    if (i > 0) {
      EXPECT_THAT(waits_of(program, "l0.f.shift." + step), IsEmpty());
    }
    EXPECT_THAT(waits_of(program, "l0.f.mp_ag." + step), ElementsAre("l0.f.shift." + step));
  }
  EXPECT_THAT(waits_of(program, "l0.f.local_sum"), ElementsAre("l0.f.mp_ag.3"));
}

// Without step 2, local_sum reads blocks of ga that nobody has written.
TEST(AppendixTest, ParmS2NeedsEveryStep) {
  ExampleSizes sizes;
  sizes.rows_per_expert = 3;
  Program program = parm_s2_program(sizes);
  const int gather = task_named(program, "l0.f.mp_ag.2");
  program.tasks[gather].reads.clear();
  program.tasks[gather].writes.clear();
  const Verdict verdict = verify(program);
  ASSERT_EQ(verdict.problems.size(), 1U);
  EXPECT_EQ(verdict.problems[0].kind, ProblemKind::kUnwrittenRead);
  EXPECT_THAT(verdict.problems[0].tasks, ElementsAre(task_named(program, "l0.f.local_sum")));
}

// A file keeps all that the verifier looks at, negative offsets among it.
TEST(AppendixTest, ProgramsSurviveAFile) {
  ExampleSizes sizes;
  sizes.forward_degree = 2;
  sizes.backward_degree = 3;
  for (const Program& program : {fsmoe_program(sizes), parm_s2_program(sizes)}) {
    const Program loaded = parse_program(program_to_json(program), "program.json");
    EXPECT_THAT(messages(verify(loaded)), IsEmpty());
    ASSERT_EQ(loaded.tasks.size(), program.tasks.size());
    for (std::size_t task = 0; task < program.tasks.size(); ++task) {
      EXPECT_EQ(loaded.tasks[task].waits, program.tasks[task].waits);
      EXPECT_EQ(loaded.tasks[task].reads, program.tasks[task].reads);
      EXPECT_EQ(loaded.tasks[task].writes, program.tasks[task].writes);
    }
  }
}

}  // namespace
}  // namespace moesim
