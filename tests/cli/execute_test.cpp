// moesim-execute from outside: options, outputs, exit codes, and what it links.
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>

#include "sim/io/program.h"
#include "sim/io/trace.h"
#include "tests/cli/moesim_runner.h"

namespace moesim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ExecuteTest : public testing::Test {
 protected:
  // With words that spaces part.
  Outcome execute(const std::string& words) const {
    std::istringstream stream(words);
    return workspace_.run_program(
        MOESIM_EXECUTE_BINARY,
        {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()});
  }

  void write(const std::string& name, const std::string& text) const {
    workspace_.write(name, text);
  }
  std::string read(const std::string& name) const { return workspace_.read(name); }

  Workspace workspace_;
};

// On each of two ranks a fixed task, then everybody's sum, then twice that.
constexpr const char* kProgram = R"({
  "name": "small", "num_ranks": 2,
  "groups": [{"name": "all", "members": [{"ranks": [0, 1]}]}],
  "tensors": [{"name": "x", "rows": 2, "columns": 4, "input": true},
              {"name": "sum", "rows": 2, "columns": 4}, {"name": "twice", "rows": 2, "columns": 4}],
  "tasks": [
    {"name": "first", "stream": "compute", "fixed": {"time": "200 ms"}},
    {"name": "reduce", "stream": "inter", "waits": ["first"], "reads": [{"tensor": "x"}],
     "writes": [{"tensor": "sum"}], "collective": {"operation": "ALL_REDUCE", "group": "all"}},
    {"name": "double", "stream": "compute", "waits": ["reduce"],
     "reads": [{"tensor": "sum"}, {"tensor": "sum"}], "writes": [{"tensor": "twice"}],
     "elementwise": {"operation": "ADD"}}]})";

// A port of 32 bytes in 1 ms.
constexpr const char* kCluster = R"({"num_nodes": 1, "gpus_per_node": 2, "gpu_memory": "1 GiB",
  "intra_node": {"rate": "32 KB/s"}, "inter_node": {"rate": "32 KB/s"}})";

TEST_F(ExecuteTest, RunsAProgramAndWritesItsTrace) {
  write("program.json", kProgram);
  write("cluster.json", kCluster);
  const Outcome outcome = execute(
      "program.json --cluster cluster.json --clock anchored --repeat 3 --max-rejected 1000 "
      "--trace trace.json --results results.txt");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("iteration"),
                    HasSubstr("of 3 runs"),
                    HasSubstr("lateness"),
                    HasSubstr("rejected"),
                    HasSubstr("partly circular")));
  const Program program = parse_program(kProgram, "program.json");
  const Trace trace = parse_trace(read("trace.json"), "trace.json", program);
  EXPECT_EQ(trace.executor, "cpu");
  ASSERT_EQ(trace.spans.size(), 6U);
  EXPECT_EQ(trace.spans[0].end, Time::from_picoseconds(200'000'000'000));
  // Each rank sends one of the two rows of 16 bytes to its owner, and one sum back: 32 bytes.
  EXPECT_EQ(trace.spans[2].end - trace.spans[2].transfer, Time::from_picoseconds(1'000'000'000));
  EXPECT_THAT(read("results.txt"), HasSubstr(" rank 1 twice\n"));
}

TEST_F(ExecuteTest, ResultsAreTheSameWhateverTheClock) {
  write("program.json", kProgram);
  std::string first;
  for (const std::string clock : {"free", "anchored", "raw"}) {
    ASSERT_EQ(execute("program.json --data integer --rounding exact --repeat 2 --max-rejected 1000 "
                      "--results results.txt --clock " +
                      clock + (clock == "raw" ? "" : " --dilation 2"))
                  .exit_code,
              0);
    first = first.empty() ? read("results.txt") : first;
    EXPECT_EQ(read("results.txt"), first);
  }
}

TEST_F(ExecuteTest, RefusesWhatTheVerifierRejects) {
  std::string racing = kProgram;
  const std::string wait = R"("waits": ["reduce"],)";
  racing.erase(racing.find(wait), wait.size());
  write("program.json", racing);
  const Outcome outcome = execute("program.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("race"), HasSubstr("reduce"), HasSubstr("double")));
}

// 8 ranks of 1 TB.
TEST_F(ExecuteTest, RefusesWhatDoesNotFit) {
  write("program.json", R"({"name": "big", "num_ranks": 8, "tensors": [
    {"name": "x", "rows": 250000, "columns": 1000000, "input": true}], "tasks": [
    {"name": "first", "stream": "compute", "fixed": {"time": "1 ms"}}]})");
  const Outcome outcome = execute("program.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("its tensors need 7.28 TiB, this machine has "));
}

TEST_F(ExecuteTest, RefusesACluster) {
  write("program.json", kProgram);
  write("cluster.json", R"({"num_nodes": 1, "gpus_per_node": 1, "gpu_memory": "1 GiB",
    "intra_node": {"rate": "1 GB/s"}, "inter_node": {"rate": "1 GB/s"}})");
  const Outcome outcome = execute("program.json --cluster cluster.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("has 2 ranks"));
}

// No machine wakes up within 2 % of a picosecond.
TEST_F(ExecuteTest, FailsWhenRunsAreDisturbed) {
  write("program.json", R"({"name": "short", "num_ranks": 1, "tasks": [
    {"name": "first", "stream": "compute", "fixed": {"time": "1 ps"}}]})");
  const Outcome outcome = execute("program.json --clock anchored --repeat 2 --max-rejected 3");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("4 of 4 runs were disturbed"));
}

TEST_F(ExecuteTest, Usage) {
  const Outcome help = execute("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"--cluster",
                             "--clock",
                             "--dilation",
                             "--hardware-queues",
                             "--launch-overhead",
                             "--repeat",
                             "--rounding",
                             "--data",
                             "--trace",
                             "--results",
                             "Exit codes"}) {
    EXPECT_THAT(help.out, HasSubstr(option));
  }
  EXPECT_EQ(execute("").exit_code, 2);
  EXPECT_EQ(execute("missing.json").exit_code, 2);
  EXPECT_EQ(execute("x.json --clock late").exit_code, 2);
  EXPECT_THAT(execute("x.json --clock late").err, HasSubstr("anchored|free|raw"));
  EXPECT_EQ(execute("x.json --repeat 0").exit_code, 2);
  EXPECT_EQ(execute("x.json --launch-overhead 5").exit_code, 2);
  for (const char* options : {"--dilation nan",
                              "--spread nan",
                              "--repeat 3 --max-repeat 2",
                              "--clock raw --dilation 3",
                              "--clock raw --cluster c.txtpb"}) {
    EXPECT_EQ(execute(std::string("x.json ") + options).exit_code, 2) << options;
  }
}

TEST_F(ExecuteTest, OverwritesNoInputAndNoOutput) {
  write("program.json", kProgram);
  EXPECT_THAT(execute("program.json --trace program.json").err, HasSubstr("overwrite an input"));
  EXPECT_EQ(execute("program.json --results ./program.json").exit_code, 2);
  EXPECT_EQ(read("program.json"), kProgram);
  EXPECT_THAT(execute("program.json --trace x --results x").err, HasSubstr("two outputs"));
}

TEST_F(ExecuteTest, OneProcessWithoutMpirunIsAWorldOfOne) {
  write("program.json", kProgram);
  ASSERT_EQ(execute("program.json --max-rejected 1000 --results threads.txt").exit_code, 0);
  const Outcome outcome =
      execute("program.json --transport mpi --max-rejected 1000 --results mpi.txt");
  if (outcome.err.find("built without Open MPI") != std::string::npos) {
    EXPECT_EQ(outcome.exit_code, 2);
    GTEST_SKIP() << outcome.err;
  }
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(read("mpi.txt"), read("threads.txt"));
}

TEST_F(ExecuteTest, LinksNeitherSimgridNorBoost) {
  const Outcome libraries = workspace_.run_program("ldd", {MOESIM_EXECUTE_BINARY});
  ASSERT_EQ(libraries.exit_code, 0) << libraries.err;
  EXPECT_THAT(libraries.out,
              AllOf(HasSubstr("libc.so"), Not(HasSubstr("simgrid")), Not(HasSubstr("boost"))));
}

}  // namespace
}  // namespace moesim
