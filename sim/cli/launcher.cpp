#include "sim/cli/launcher.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/cli/stopping_rule.h"
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

// The traces of as many runs as there were.
RepeatedRuns collect(const TemporaryFolder& folder,
                     const StoppingRule& rule,
                     const Program& program) {
  RepeatedRuns runs;
  const auto path = [&] { return folder / fmt::format("{}.json", runs.accepted.size()); };
  while (std::filesystem::exists(path())) {
    runs.accepted.push_back({load_trace(path(), program), Time::zero()});
  }
  runs.stopped = reason_to_stop(rule, runs.makespans()).value_or(Stop::kDisturbed);
  return runs;
}

}  // namespace

RepeatedRuns launch(const BackendOptions& options, const Program& program) {
  const StoppingRule rule = stopping_rule(options);
  const TemporaryFolder folder;
  write_file_atomically(folder / "program.json", program_to_json(program));
  const std::string command = fmt::format(
      "{} {} --transport mpi --warmup {} --repeat {} --max-repeat {} --spread {} "
      "--dilation {} --traces {} > {} 2>&1",
      options.launcher,
      folder / "program.json",
      kNumWarmups,
      rule.least,
      rule.most,
      rule.spread,
      options.dilation,
      folder.path(),
      folder / "output");
  if (std::system(command.c_str()) != 0) {
    throw Failure(fmt::format("{}\nfailed:\n{}", command, read_file(folder / "output")));
  }
  return collect(folder, rule, program);
}

}  // namespace moesim
