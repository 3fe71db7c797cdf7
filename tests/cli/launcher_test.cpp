// --launcher: scripts stand for mpirun and what it starts. Nothing here depends on how long
// anything took.
#include <filesystem>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/backend_study.h"

namespace moesim {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kOnThreads = MOESIM_EXECUTE_BINARY " \"$program\" \"$@\"";

// With launchers that are scripts: without MPI.
class LauncherTest : public BackendStudy {
 protected:
  void write_launcher(const std::string& name, const std::string& command) const {
    workspace_.write(name,
                     "#!/bin/sh\necho \"$@\" > words.txt\n"
                     "program=$1\nshift 3\n" +
                         command + "\n");
    std::filesystem::permissions(workspace_.path(name), std::filesystem::perms::owner_all);
  }

  // With a folder of its own for temporary files, of a name that is two words to a shell.
  Outcome run_launched(const std::string& launcher, std::vector<std::string> options = {}) const {
    std::filesystem::create_directory(workspace_.path("its tmp"));
    options.insert(options.begin(),
                   {"TMPDIR=" + workspace_.path("its tmp"),
                    MOESIM_BINARY,
                    "execute",
                    "study.txtpb",
                    "--profile",
                    "profile.txtpb",
                    "--clock",
                    "raw",
                    "--runs",
                    "2",
                    "--launcher",
                    launcher});
    const Outcome outcome = workspace_.run_program("env", options);
    EXPECT_TRUE(std::filesystem::is_empty(workspace_.path("its tmp")));
    return outcome;
  }
};

// Stands for mpirun: the processes of fsmoe fail to start, those of others run without MPI.
constexpr const char* kLauncher = R"(
program=$1
shift 3
if grep -q '"tiny/fsmoe"' "$program"; then echo "no route to node 1"; exit 1; fi
)" MOESIM_EXECUTE_BINARY R"( "$program" "$@"
)";

// The others are measured all the same, and the row says why it has no times.
TEST_F(LauncherTest, AScheduleWhoseRunsFailDoesNotEndTheOthers) {
  workspace_.write("launcher.sh", kLauncher);
  const std::vector<std::string> launched = {"crosscheck",
                                             "study.txtpb",
                                             "--profile",
                                             "profile.txtpb",
                                             "--launcher",
                                             "sh launcher.sh",
                                             "--clock",
                                             "raw",
                                             "--runs",
                                             "2"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), launched.begin(), launched.end());
    return workspace_.run(more);
  };
  const Outcome table = run({"--baseline", "fsmoe"});
  EXPECT_EQ(table.exit_code, 1) << table.err;
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("not measured"),
                    HasSubstr("speed-ups are over tutel"),
                    HasSubstr("no route to node 1")));
  const Outcome outcome = run({"--json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const json result = json::parse(outcome.out);
  ASSERT_EQ(result.at("rows").size(), 1U);
  EXPECT_EQ(result.at("rows").at(0).at("schedule"), "tutel");
  EXPECT_EQ(result.at("rows").at(0).at("runs"), 2);
  EXPECT_EQ(result.at("rows").at(0).at("stopped"), "most");
  ASSERT_EQ(result.at("not_measured").size(), 1U);
  EXPECT_EQ(result.at("not_measured").at(0).at("schedule"), "fsmoe");
  EXPECT_GT(result.at("not_measured").at(0).at("predicted_seconds"), 0);
  // A bound that was missed is an answer.
  EXPECT_EQ(run({"--max-error", "0%"}).exit_code, 3);
  const Outcome none = run({"--schedules", "fsmoe"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.out, IsEmpty());
  EXPECT_THAT(none.err, HasSubstr("no schedule could be measured"));
}

TEST_F(LauncherTest, PassesOnWhatMoesimExecuteKnows) {
  write_launcher("launch.sh", kOnThreads);
  const std::vector<std::string> threads = {"--profile", "profile.txtpb", "--results", "t.txt"};
  ASSERT_EQ(run_raw("execute", threads).exit_code, 0);
  const Outcome outcome =
      run_launched("./launch.sh", {"--set", "profile.hardware_queues=3", "--results", "r.txt"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("median of 2 runs"));
  EXPECT_THAT(workspace_.read("words.txt"),
              HasSubstr("program.json --transport mpi --clock raw --hardware-queues 3 "
                        "--warmup 1 --repeat 2 --max-repeat 2 --spread 0.01 --max-rejected 10 "
                        "--traces "));
  EXPECT_EQ(workspace_.read("r.txt"), workspace_.read("t.txt"));
}

// Stands for mpirun on nodes with GPUs: two processes tell of them, runs are the CPU's.
constexpr const char* kGpuLauncher = R"(#!/bin/sh
if [ "$1" = --gpu-facts ]; then echo "GPU of a node"; echo "GPU of a node"; exit 0; fi
echo "$@" > words.txt
program=$1
shift 12
exec )" MOESIM_EXECUTE_BINARY R"( "$program" "$@"
)";

TEST_F(LauncherTest, PassesOnWhatAGpuIsTold) {
  workspace_.write("launch.sh", kGpuLauncher);
  const Outcome outcome = workspace_.run({"calibrate",
                                          "study.txtpb",
                                          "--backend",
                                          "cuda",
                                          "--attention",
                                          "fused",
                                          "--ctas",
                                          "4",
                                          "--nccl-alltoall",
                                          "--launcher",
                                          "sh launch.sh",
                                          "--runs",
                                          "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(workspace_.read("words.txt"),
              HasSubstr("json --transport mpi --backend cuda --storage bf16 --attention fused "
                        "--ctas 4 --nccl-alltoall --hardware-queues 32 --warmup 1 "));
  const size_t told = outcome.out.find("\"GPU of a node\"");
  EXPECT_NE(told, std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("GPU of a node", told + 14), std::string::npos);
  EXPECT_THAT(outcome.out, HasSubstr("processes of: sh launch.sh"));
}

TEST_F(LauncherTest, ProbesOfAGpuRunInThisProcess) {
  const Outcome outcome = workspace_.run({"calibrate",
                                          "study.txtpb",
                                          "--backend",
                                          "cuda",
                                          "--gpu-probes",
                                          "probes.json",
                                          "--launcher",
                                          "true"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("run moesim-execute --gpu-probes FILE where the GPU is"));
}

TEST_F(LauncherTest, ItsPathMayHaveSpaces) {
  write_launcher("my launch.sh", kOnThreads);
  EXPECT_EQ(run_launched("./my launch.sh").exit_code, 0);
  EXPECT_EQ(run_launched("sh './my launch.sh'").exit_code, 0);
}

TEST_F(LauncherTest, ThatFailsIsAFailureWithWhatItSaid) {
  write_launcher("launch.sh", "echo no such network >&2; exit 3");
  const Outcome outcome = run_launched("./launch.sh", {"--trace", "trace.json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err,
              AllOf(StartsWith("moesim: the launcher failed with exit code 3:\n  './launch.sh' "),
                    HasSubstr("\nno such network\n")));
  EXPECT_FALSE(workspace_.exists("trace.json"));
  EXPECT_THAT(run_launched("no-such-launcher -np 4").err, HasSubstr("with exit code 127"));
  write_launcher("launch.sh", "kill -KILL $$");
  EXPECT_THAT(run_launched("./launch.sh").err, HasSubstr("the launcher failed with "));
}

TEST_F(LauncherTest, WithoutTracesIsAFailure) {
  for (const char* command :
       {"true", "while [ \"$1\" != --traces ]; do shift; done; echo {} > \"$2/0.json\""}) {
    write_launcher("launch.sh", command);
    const Outcome outcome = run_launched("./launch.sh");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr("ended well but did not leave what moesim-execute does"));
  }
}

TEST_F(LauncherTest, ACalibrationThatFailsWritesNothing) {
  const Outcome outcome =
      workspace_.run({"calibrate", "study.txtpb", "--launcher", "false", "--out", "p.txtpb"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_FALSE(workspace_.exists("p.txtpb"));
}

}  // namespace
}  // namespace moesim
