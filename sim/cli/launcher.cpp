#include "sim/cli/launcher.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <fmt/core.h>
#include <sys/wait.h>

#include "sim/base/error.h"
#include "sim/cli/option_values.h"
#include "sim/io/files.h"
#include "sim/io/trace.h"

namespace moesim {
namespace {

// A new folder that is removed with everything in it; mkdtemp replaces the six letters.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() / ("moesim-" + std::string(6, 'X'))) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw Failure(fmt::format("cannot make a folder {}", path_));
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// As one word of a shell's command.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char character : text) {
    word += character == '\'' ? std::string("'\\''") : std::string(1, character);
  }
  return word + "'";
}

// A path may have spaces, which would end a word.
std::string start_of_command(const std::string& launcher) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(launcher, ignored) ? quoted(launcher) : launcher;
}

std::string pacing_words(const Launch& launch) {
  if (launch.clock == HostClock::kRaw) {
    return "--clock raw";  // dilates nothing
  }
  return fmt::format("--clock {} --dilation {}", name(launch.clock), launch.dilation);
}

std::string gpu_words(const GpuRanks& gpu) {
  std::string words = fmt::format("--backend cuda --storage {}",
                                  gpu.cuda.storage == Storage::kFloat32 ? "fp32" : "bf16");
  if (gpu.fuses_attention) {
    words += " --attention fused";
  }
  if (gpu.cuda.gemm_sms > 0) {
    words += fmt::format(" --gemm-sms {}", gpu.cuda.gemm_sms);
  }
  if (gpu.most_ctas > 0) {
    words += fmt::format(" --ctas {}", gpu.most_ctas);
  }
  if (gpu.nccl_all_to_all) {
    words += " --nccl-alltoall";
  }
  return words;
}

std::string command_line(const Launch& launch, const TemporaryFolder& folder) {
  return fmt::format(
      "{} {} --transport mpi {} --hardware-queues {} --warmup {} --repeat {} --max-repeat {} "
      "--spread {} --max-rejected {} --traces {} --results {}",
      start_of_command(launch.command),
      quoted(folder / "program.json"),
      launch.gpu ? gpu_words(*launch.gpu) : pacing_words(launch),
      launch.hardware_queues,
      launch.repeat.num_warmups,
      launch.repeat.rule.least,
      launch.repeat.rule.most,
      launch.repeat.rule.spread,
      launch.repeat.max_rejected,
      quoted(folder.path()),
      quoted(folder / "results"));
}

std::string ending(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

void run(const std::string& command, const std::string& output) {
  const int status = std::system(fmt::format("{} > {} 2>&1", command, quoted(output)).c_str());
  if (status == 0) {
    return;
  }
  std::error_code ignored;
  const std::string said = std::filesystem::exists(output, ignored) ? read_file(output) : "";
  throw Failure(
      fmt::format("the launcher failed with {}:\n  {}\n{}", ending(status), command, said));
}

// The traces of as many runs as there were.
ExecutedRuns read_all(const TemporaryFolder& folder,
                      const Program& program,
                      const StoppingRule& rule) {
  ExecutedRuns executed;
  RepeatedRuns& runs = executed.runs;
  const auto path = [&] { return folder / fmt::format("{}.json", runs.accepted.size()); };
  while (static_cast<int>(runs.accepted.size()) < rule.least || std::filesystem::exists(path())) {
    runs.accepted.push_back({load_trace(path(), program), Time::zero()});
  }
  runs.stopped = reason_to_stop(rule, runs.makespans()).value_or(Stop::kDisturbed);
  executed.results = read_file(folder / "results");
  return executed;
}

}  // namespace

ExecutedRuns launch(const Program& program, const Launch& launch) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "program.json", program_to_json(program));
  const std::string command = command_line(launch, folder);
  run(command, folder / "output");
  try {
    return read_all(folder, program, launch.repeat.rule);
  } catch (const Error& error) {
    throw Failure(
        fmt::format("the launcher ended well but did not leave what moesim-execute does; it must "
                    "run that with the words that follow it, on a disk of this machine:\n"
                    "  {}\n{}",
                    command,
                    error.what()));
  }
}

std::vector<std::string> launched_gpu_facts(const std::string& command) {
  const TemporaryFolder folder;
  run(start_of_command(command) + " --gpu-facts", folder / "output");
  std::vector<std::string> facts;
  std::istringstream lines(read_file(folder / "output"));
  for (std::string line; std::getline(lines, line);) {
    if (std::find(facts.begin(), facts.end(), line) == facts.end()) {
      facts.push_back(line);
    }
  }
  return facts;
}

}  // namespace moesim
