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

// A probe file of one reading; facts; else the CPU backend, with GPU options left out.
constexpr const char* kStandIn = R"(#!/bin/sh
case "$*" in
  --gpu-facts*) echo 'a "stand-in", no GPU'; exit 0 ;;
  --gpu-probes*) echo '{"num_sms": 1, "readings": [{"probe": {"kind": "LAUNCH", "kernels": 10},
    "picoseconds": [30000000]}]}' > "$2"; exit 0 ;;
esac
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
    for (const char* folder : {"carried", "carried/equality", "carried/timing"}) {
      fs::create_directory(workspace_.path(folder));
    }
    write("carried/moesim-execute", kStandIn);
    for (const char* program : {"equality/4_tutel.json", "timing/4_tutel.json"}) {
      const Outcome made = workspace_.run({"program",
                                           "scenarios/crosscheck.txtpb",
                                           "--schedule",
                                           "tutel",
                                           "--degree",
                                           "2",
                                           "--out",
                                           std::string("carried/") + program});
      ASSERT_EQ(made.exit_code, 0) << made.err;
    }
  }

  void write(const std::string& name, const std::string& text) {
    workspace_.write(name, text);
    fs::permissions(workspace_.path(name), fs::perms::owner_all);
  }

  // The exit code of the script.
  int run_check(const std::string& options) {
    const std::string command = "tests/gpu/run.sh --carried " + workspace_.path("carried") + " " +
                                options + " > " + workspace_.path("out") + " 2>&1";
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
  EXPECT_THAT(outcome.out, HasSubstr("| tutel | 4 | "));
  EXPECT_THAT(outcome.out, HasSubstr("| 0 | reproduced |"));
  EXPECT_THAT(outcome.out, HasSubstr("A launch takes the host 3.000 us"));
  // The stand-in ran none of the check's own Programs.
  EXPECT_THAT(outcome.out, HasSubstr("Not compared: result.json: no runs of"));
}

TEST_F(GpuCheckScriptTest, APartThatFailsIsSaidAndTheOthersGoOn) {
  write("carried/equality/4_broken.json", "{");
  write("carried/equality/4_other.json", "{}");
  const std::string result = workspace_.path("result.json");
  EXPECT_EQ(run_check("--out " + result), 1);
  // Each Program has its own message.
  EXPECT_THAT(workspace_.read("result.json"),
              MatchesRegex(".*\"broken\"[^}]*4_broken.json.*\"other\"[^}]*4_other.json.*"));
  const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| equality | failed |"));
  EXPECT_THAT(outcome.out, HasSubstr("| schedules | done |"));
}

// 124 and 137 are what timeout says of a program that it ended, which had written a file before.
TEST_F(GpuCheckScriptTest, APartThatIsCutOffKeepsWhatItHas) {
  for (const std::string code : {"124", "137"}) {
    std::string stand_in = kStandIn;
    const std::size_t at = stand_in.find("\"$2\"; exit 0");
    ASSERT_NE(at, std::string::npos);
    stand_in.replace(at, 12, "\"$2\"; echo '{' > \"$2.1.tmp\"; exit " + code);
    write("carried/moesim-execute", stand_in);
    EXPECT_EQ(run_check("--out " + workspace_.path("result.json")), 1);
    const Outcome outcome = workspace_.run({"validate", "gpu", "result.json"});
    EXPECT_THAT(outcome.out, HasSubstr("| probes | cut off |")) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("A launch takes the host 3.000 us"));
  }
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
  EXPECT_THAT(refusal({"--clock", "raw"}), HasSubstr("paces nothing"));
  EXPECT_THAT(refusal({"--attention", "fused"}), HasSubstr("give --storage bf16"));
  EXPECT_THAT(refusal({"--attention", "fused", "--storage", "bf16", "--rounding", "exact"}),
              HasSubstr("no --rounding exact"));
  EXPECT_THAT(refusal({"--repeat", "5", "--spread", "0.05"}), HasSubstr("a larger --max-repeat"));
}

}  // namespace
}  // namespace moesim
