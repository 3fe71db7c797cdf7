// The GPU check without a GPU: tests/gpu/run.sh with a stand-in for moesim-execute that runs what
// is asked of a GPU on this machine's cores, so that the script and the file that it writes are
// tested.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "tests/cli/moesim_runner.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;

// Facts; probe files of one reading; attention that is near; else the CPU backend, with GPU options
// left out.
constexpr const char* kStandIn = R"(#!/bin/sh
case "$*" in
  --gpu-facts*) echo 'a "stand-in", no GPU'; echo 'GPU 0'; exit 0 ;;
  *--probe-set*) probe='{"kind": "QUEUES", "streams": 1, "kernels": 3, "queues": 1}' ;;
  --gpu-probes*) probe='{"kind": "LAUNCH", "kernels": 10}' ;;
  *--compare-attention*)
    echo '{"program": "attention", "num_fused": 3, "num_buffers": 9, "largest_error": 0.002}' > "$5"
    exit 0 ;;
esac
if [ "$1" = --gpu-probes ]; then
  echo '{"environment": ["GPU 0"], "num_sms": 1, "num_planned": 1, "readings": [{"group": "g",
    "probe": '"$probe"', "picoseconds": [30000000], "drift": 0, "rejected": false}]}' > "$2"; exit 0
fi
for argument in "$@"; do
  shift
  case $argument in
    --backend | --storage) skip=yes ;;
    cuda | fp32 | bf16) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec )" MOESIM_EXECUTE_BINARY R"( "$@" --clock raw
)";

class GpuCheckScriptTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"calibration", "scenarios", "topologies"}) {
      fs::create_directory_symlink(fs::absolute(folder), workspace_.path(folder));
    }
    for (const char* folder :
         {"carried", "carried/attention", "carried/equality", "carried/timing", "carried/nccl"}) {
      fs::create_directory(workspace_.path(folder));
    }
    write("carried/moesim-execute", kStandIn);
    make({"program",
          "scenarios/crosscheck.txtpb",
          "--schedule",
          "tutel",
          "--degree",
          "2",
          "--out",
          "carried/equality/4_tutel.json"});
    // Of the probes the launches, which take no time.
    fs::create_directory(workspace_.path("probes"));
    make({"calibrate", "scenarios/gpu_check_4.txtpb", "--probes", "probes"});
    workspace_.write("carried/timing/4_probe_00.json", workspace_.read("probes/probe_00.json"));
    workspace_.write("carried/attention/attention.txtpb", "");
    make({"program",
          "scenarios/crosscheck_raw.txtpb",
          "--profile",
          "calibration/profiles/logical_gpu.txtpb",
          "--schedule",
          "tutel",
          "--degree",
          "2",
          "--out",
          "carried/nccl/2_tutel.json"});
  }

  void make(const std::vector<std::string>& words) {
    const Outcome made = workspace_.run(words);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  // The stand-in with something else in it.
  void stand_in_with(const std::string& text, const std::string& instead) {
    std::string script = kStandIn;
    const std::size_t at = script.find(text);
    ASSERT_NE(at, std::string::npos);
    write("carried/moesim-execute", script.replace(at, text.size(), instead));
  }

  void write(const std::string& name, const std::string& text) {
    workspace_.write(name, text);
    fs::permissions(workspace_.path(name), fs::perms::owner_all);
  }

  // The exit code of the script.
  int run_check(const std::string& options) {
    const std::string command = "CUDA_VISIBLE_DEVICES=3,1 PATH=" + workspace_.path("bin") +
                                ":$PATH tests/gpu/run.sh --carried " + workspace_.path("carried") +
                                " " + options + " > " + workspace_.path("out") + " 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  }

  Workspace workspace_;
};

TEST_F(GpuCheckScriptTest, WritesAFileThatValidateReads) {
  const std::string result = workspace_.path("result.json");
  EXPECT_EQ(run_check("--out " + result), 0) << workspace_.read("out");
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("- a \"stand-in\", no GPU\n"));
  EXPECT_THAT(outcome.out, HasSubstr("| equality | done |"));
  EXPECT_THAT(outcome.out, HasSubstr("| schedules | done |"));
  EXPECT_THAT(outcome.out, HasSubstr("| tutel | 4 | "));
  EXPECT_THAT(outcome.out, HasSubstr("| attention | 3 | 9 | 0.00200 | consistent with |"));
  EXPECT_THAT(outcome.out, HasSubstr("| 0 | reproduced |"));
  EXPECT_THAT(outcome.out, HasSubstr("A launch takes the host 3.000 us"));
  // The stand-in ran one of the check's own Programs, of many.
  EXPECT_THAT(outcome.out, HasSubstr("Not compared: result.json: no runs of"));
}

TEST_F(GpuCheckScriptTest, APartThatFailsIsSaidAndTheOthersGoOn) {
  write("carried/equality/4_fsmoe.json", "{");
  write("carried/equality/4_sp_moe.json", "{}");
  const std::string result = workspace_.path("result.json");
  EXPECT_EQ(run_check("--out " + result), 1);
  // Each Program has its own message.
  EXPECT_THAT(workspace_.read("result.json"),
              MatchesRegex(".*\"fsmoe\"[^}]*4_fsmoe.json.*\"sp_moe\"[^}]*4_sp_moe.json.*"));
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| equality | **FAILED** |"));
  EXPECT_THAT(outcome.out, HasSubstr("| schedules | done |"));
}

// 124 is what timeout says of a program that it ended, which had written a file before.
TEST_F(GpuCheckScriptTest, APartThatIsCutOffKeepsWhatItHas) {
  stand_in_with("\"$2\"; exit 0", "\"$2\"; echo '{' > \"$2.1.tmp\"; exit 124");
  EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 1);
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| probes | cut off |")) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("A launch takes the host 3.000 us"));
}

// A process that somebody kills, long before its time is over.
TEST_F(GpuCheckScriptTest, APartThatIsKilledFails) {
  stand_in_with("\"$2\"; exit 0", "\"$2\"; kill -9 $$");
  EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 1);
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| probes | **FAILED** |"));
  EXPECT_THAT(outcome.out, HasSubstr("exit code 137"));
}

// The stand-in interrupts the script that started it, through timeout, while it probes.
TEST_F(GpuCheckScriptTest, AnInterruptKeepsWhatIsThere) {
  stand_in_with("\"$2\"; exit 0",
                "\"$2\"; script=$(ps -o ppid= -p $PPID); kill -INT $script; exec sleep 600");
  EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 1);
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| equality | done |"));
  EXPECT_THAT(outcome.out, MatchesRegex(".*\\| probes \\| cut off \\|[^\n]*\\| interrupted \\|.*"));
  EXPECT_THAT(outcome.out, HasSubstr("A launch takes the host 3.000 us"));
}

TEST_F(GpuCheckScriptTest, WithoutCudnnAttentionIsSkipped) {
  stand_in_with("*--compare-attention*)", "*--compare-attention*) echo 'no cuDNN' >&2; exit 77");
  EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 0) << workspace_.read("out");
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, MatchesRegex(".*\\| attention \\| skipped \\|[^\n]*\\| no cuDNN \\|.*"));
}

// Stands for mpirun of one process, whose ranks are threads. Its own options end at the time limit
// of each process.
constexpr const char* kLauncherStandIn = R"(#!/bin/sh
[ "$1" != --version ] || { echo 'mpirun (Open MPI) 0, a stand-in'; exit 0; }
[ "$CUDA_VISIBLE_DEVICES $1 $2 $3 $4" = '3 -np 2 --host localhost:2' ] || exit 9
while [ "$1" != timeout ]; do shift; done
[ "$2 $3 $6 $7" = '-k 5 --transport mpi' ] || exit 9
binary=$5
shift 7
exec "$binary" "$@"
)";

TEST_F(GpuCheckScriptTest, WithoutOpenMpiTwoProcessesAreSkipped) {
  const auto skipped = [&] {
    EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 0) << workspace_.read("out");
    const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("| nccl | skipped |"));
    return outcome.out;
  };
  fs::create_directory(workspace_.path("bin"));
  write("bin/mpirun", "#!/bin/sh\necho HYDRA\n");
  EXPECT_THAT(skipped(), HasSubstr("| no mpirun of Open MPI: install it"));
  write("bin/mpirun", kLauncherStandIn);
  EXPECT_THAT(skipped(), HasSubstr("has no moesim-execute-mpi: pack it where Open MPI is"));
  write("carried/moesim-execute-mpi", "#!/bin/sh\necho 'no libmpi.so.40' >&2\nexit 127\n");
  EXPECT_THAT(skipped(), HasSubstr("| moesim-execute-mpi does not start: no libmpi.so.40 |"));
}

TEST_F(GpuCheckScriptTest, TwoProcessesRunWhereThereIsOpenMpi) {
  const std::string options = "--out " + workspace_.path("result.json");
  fs::create_directory(workspace_.path("bin"));
  write("bin/mpirun", kLauncherStandIn);
  write("carried/moesim-execute-mpi", kStandIn);
  EXPECT_EQ(run_check(options), 0) << workspace_.read("out");
  const Outcome equal = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(equal.exit_code, 0) << equal.err;
  EXPECT_THAT(equal.out, HasSubstr("| nccl | done |"));
  EXPECT_THAT(equal.out,
              MatchesRegex(".*NCCL's sockets between them:\n[^:]*\\| tutel \\| 2 \\| [0-9]+ \\| 0 "
                           "\\| reproduced \\|.*"));
}

// One process that fails ends both, and mpirun with its exit code; its time limit does with 124.
TEST_F(GpuCheckScriptTest, TwoProcessesThatFailAreNoCutOff) {
  const std::string is_asked = "#!/bin/sh\n[ \"$1\" != --version ] || exit 0\n";
  const auto ends_with = [&](const std::string& end) {
    write("carried/moesim-execute-mpi", is_asked + end + "\n");
    EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 1);
    return workspace_.run({"validate", "gpu", "result.json"});
  };
  fs::create_directory(workspace_.path("bin"));
  write("bin/mpirun", kLauncherStandIn);
  // Open MPI's own block may be longer than what the file keeps, and stand first.
  const Outcome failed = ends_with(
      "{ echo ------; printf '%400s\\n' MPI_ABORT; echo ------; echo 'NCCL hangs'; } >&2; exit 1");
  EXPECT_EQ(failed.exit_code, 3) << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("| tutel | 2 | - | exit code 1: NCCL hangs | **FAILED** |"));
  EXPECT_THAT(ends_with("{ echo ------; echo 'no slots'; echo ------; } >&2; exit 1").out,
              HasSubstr("| tutel | 2 | - | exit code 1: ------ no slots ------ | **FAILED** |"));
  const Outcome cut_off = ends_with("exit 124");
  EXPECT_EQ(cut_off.exit_code, 0) << cut_off.err;
  EXPECT_THAT(cut_off.out, HasSubstr("| nccl | cut off |"));
  const Outcome silent = ends_with("exit 0");
  EXPECT_EQ(silent.exit_code, 3) << silent.err;
  EXPECT_THAT(silent.out, HasSubstr("| tutel | 2 | 66 | 66 | **FAILED** |"));
}

TEST_F(GpuCheckScriptTest, AttentionThatIsFarFromProductsFails) {
  stand_in_with("0.002", "0.02");  // 4 / 256 = 0.0156 is allowed
  EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 0);
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| attention | 3 | 9 | 0.02000 | **FAILED** |"));
}

TEST_F(GpuCheckScriptTest, OtherEqualityFailsAndOtherBuildsAreRefused) {
  EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 0);
  const std::string text = workspace_.read("result.json");
  const auto validate_with = [&](const std::string& what, const std::string& instead) {
    std::string changed = text;
    const std::size_t at = changed.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    workspace_.write("changed.json", changed.replace(at, what.size(), instead));
    return workspace_.run({"validate", "gpu", "changed.json"});
  };
  const Outcome different = validate_with("\"num_different\": 0", "\"num_different\": 1");
  EXPECT_EQ(different.exit_code, 3);
  EXPECT_THAT(different.out, HasSubstr("| 1 | **FAILED** |"));
  const Outcome other = validate_with("\"hash\": \"", "\"hash\": \"0");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("changed.json: programs[0].hash: "));
  EXPECT_THAT(other.err, HasSubstr("no Program that this build makes"));
  const Outcome cell = validate_with("\"name\": \"equality\", \"status\": \"DONE\"",
                                     "\"message\": \"a | b\\nc\", \"name\": \"equality\", "
                                     "\"status\": \"CUT_OFF\"");
  EXPECT_EQ(cell.exit_code, 0) << cell.err;
  EXPECT_THAT(cell.out, HasSubstr("| a \\| b\\nc |\n"));
}

TEST_F(GpuCheckScriptTest, WithoutAGpuItIsSkippedWithASentence) {
  write("carried/moesim-execute", "#!/bin/sh\necho 'no CUDA device: none' >&2\nexit 1\n");
  EXPECT_EQ(run_check(""), 77);
  EXPECT_EQ(workspace_.read("out"), "no CUDA device: none\n");
}

TEST_F(GpuCheckScriptTest, BadUsageIsRefused) {
  EXPECT_EQ(run_check("--fast"), 2);
  EXPECT_THAT(workspace_.read("out"), HasSubstr("no option --fast"));
  EXPECT_EQ(run_check("--out /no/such/folder/result.json"), 2);
  EXPECT_THAT(workspace_.read("out"), HasSubstr("there is no folder"));
  EXPECT_EQ(run_check("--out " + workspace_.path("carried")), 2);
  EXPECT_THAT(workspace_.read("out"), HasSubstr("is a folder"));
  fs::remove_all(workspace_.path("carried/timing"));
  EXPECT_EQ(run_check(""), 2);
  EXPECT_THAT(workspace_.read("out"), HasSubstr("timing has no Programs"));
}

TEST(GpuCommandTest, FilesThatAreNoneAreRefused) {
  const Workspace workspace;
  const Outcome outcome = workspace.run({"validate", "table2", "result.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the section table2 reads no file; only gpu does"));
}

// Wherever this runs: a build without CUDA, a machine without a GPU, or one with one.
TEST(GpuCommandTest, ExecuteSaysWhatIsMissing) {
  const Workspace workspace;
  const std::string scenario = fs::absolute("scenarios/crosscheck.txtpb").string();
  const Outcome outcome = workspace.run(
      {"execute", scenario, "--schedule", "tutel", "--degree", "1", "--backend", "cuda"});
  if (outcome.exit_code != 0) {
    EXPECT_THAT(outcome.err, AnyOf(HasSubstr("no CUDA device"), HasSubstr("no CUDA backend")));
    EXPECT_EQ(outcome.exit_code, outcome.err.find("device") != std::string::npos ? 1 : 2);
  }
}

TEST(GpuCommandTest, OptionsThatDoNotGoTogetherAreRefused) {
  const Workspace workspace;
  const std::string scenario = fs::absolute("scenarios/crosscheck.txtpb").string();
  const auto refusal = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = {"execute", scenario};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = workspace.run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--graph"}), HasSubstr("--graph is an option of --backend cuda; give that"));
  // Also their defaults: who writes them believes that they count.
  for (const char* backend : {"cpu", ""}) {
    for (const std::vector<std::string>& option :
         std::vector<std::vector<std::string>>{{"--storage", "bf16"},
                                               {"--storage", "fp32"},
                                               {"--gpus", "one"},
                                               {"--attention", "products"},
                                               {"--gemm-sms", "8"},
                                               {"--ctas", "2"},
                                               {"--nccl-alltoall"},
                                               {"--kernels"}}) {
      std::vector<std::string> words = option;
      if (*backend != '\0') {
        words.insert(words.end(), {"--backend", backend});
      }
      EXPECT_THAT(refusal(words), HasSubstr(option[0] + " is an option of --backend cuda"));
    }
  }
  EXPECT_THAT(refusal({"--backend", "cuda", "--clock", "free"}), HasSubstr("paces nothing"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--storage", "fp32", "--attention", "fused"}),
              HasSubstr("--attention fused is for tensors in BF16"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--dilation", "2"}), HasSubstr("paces nothing"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--ctas", "4"}), HasSubstr("give --gpus each"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--gpus", "two"}), HasSubstr("one or each"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--gpus", "each", "--kernels"}),
              HasSubstr("share one GPU"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--transport", "mpi", "--gpus", "each"}),
              HasSubstr("--gpus is not for --transport mpi and --launcher"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--transport", "mpi", "--launcher", "mpirun"}),
              HasSubstr("leave one out"));
}

TEST(GpuCommandTest, MoesimExecuteRefusesThemToo) {
  const Workspace workspace;
  const auto refusal = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = {"program.json", "--backend", "cuda"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = workspace.run_program(MOESIM_EXECUTE_BINARY, words);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--transport", "mpi", "--gpus", "each"}),
              HasSubstr("--gpus is not for --transport mpi"));
  EXPECT_THAT(refusal({"--transport", "mpi", "--kernels"}),
              HasSubstr("--kernels is not for --transport mpi"));
  EXPECT_THAT(refusal({"--gpus", "each", "--kernels"}), HasSubstr("not for --gpus each"));
  EXPECT_THAT(refusal({"--ctas", "2"}), HasSubstr("an option of --gpus each and of --transport"));
  EXPECT_THAT(refusal({"--nccl-alltoall"}), HasSubstr("where NCCL carries collectives"));
  EXPECT_THAT(refusal({"--clock", "raw"}), HasSubstr("paces nothing"));
  EXPECT_THAT(refusal({"--attention", "fused"}), HasSubstr("give --storage bf16"));
  EXPECT_THAT(refusal({"--attention", "fused", "--storage", "bf16", "--rounding", "exact"}),
              HasSubstr("no --rounding exact"));
  EXPECT_THAT(refusal({"--repeat", "5", "--spread", "0.05"}), HasSubstr("a larger --max-repeat"));
}

}  // namespace
}  // namespace moesim
