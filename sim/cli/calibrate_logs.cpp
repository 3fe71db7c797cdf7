#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "calibration/cluster_rates.h"
#include "calibration/log_warnings.h"
#include "calibration/nccl_report.h"
#include "sim/base/error.h"
#include "sim/cli/commands.h"
#include "sim/cli/output.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "sim/io/gpu_match.h"
#include "sim/io/imported_files.h"
#include "sim/io/output_paths.h"
#include "sim/io/profile.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

// All that it reads.
std::vector<std::string> files_of(const CalibrateOptions& options, const Cluster& cluster) {
  std::vector<std::string> files = imported_files(cluster);
  files.insert(files.end(), {options.input.cluster, options.input.profile});
  for (const NcclLogOption& log : options.nccl_logs) {
    files.push_back(log.path);
  }
  return files;
}

// What the command line says of a log is for what the log does not say, and must not differ.
void check_agreement(const NcclLogOption& option,
                     const std::optional<Layout>& layout,
                     const NcclLog& log) {
  for (const NcclRun& run : log.runs) {
    if (!option.collective.empty() && run.collective != option.collective) {
      throw Error(log.path,
                  fmt::format("it says itself that it is of {}, not of {}; leave out {}=",
                              run.collective,
                              option.collective,
                              option.collective));
    }
    if (layout && run.layout != *layout) {
      throw Error(log.path,
                  fmt::format("the ranks that it lists are on {}, not on {}; leave out --layout",
                              to_string(run.layout),
                              to_string(*layout)));
    }
  }
}

std::vector<NcclLog> read_logs(const CalibrateOptions& options) {
  std::vector<NcclLog> logs;
  for (const NcclLogOption& log : options.nccl_logs) {
    logs.push_back(parse_nccl_log(
        log.path, read_file(log.path), {.collective = log.collective, .layout = options.layout}));
    check_agreement(log, options.layout, logs.back());
  }
  return logs;
}

void require_of_cluster(const std::vector<NcclLog>& logs, const Cluster& cluster) {
  for (const NcclLog& log : logs) {
    for (const NcclRun& run : log.runs) {
      if (run.layout.gpus_per_node > cluster.gpus_per_node) {
        throw Error(
            log.path,
            fmt::format("its {} ran on {}, but nodes of cluster '{}' have {} GPUs; give the "
                        "cluster that it ran on",
                        run.collective,
                        to_string(run.layout),
                        cluster.name,
                        cluster.gpus_per_node));
      }
    }
  }
}

// Logs tell of collectives only; what computing costs comes from another profile.
void add_compute(const Profile& other, Profile& profile) {
  profile.gpu = other.gpu;
  profile.gemm = other.gemm;
  profile.memory_bytes_per_second = other.memory_bytes_per_second;
  profile.operations = other.operations;
  profile.launch_overhead_seconds = other.launch_overhead_seconds;
  profile.hardware_queues = other.hardware_queues;
  profile.environment.push_back(
      fmt::format("costs of computing from profile {}: {}", other.name, other.source));
}

// Of what the logs, the cluster file and the profiles say of each other.
std::string warnings(const std::vector<NcclLog>& logs,
                     const Cluster& cluster,
                     const Profile& profile) {
  std::vector<std::string> all = log_warnings(cluster, logs);
  const std::vector<std::string> of_rates = rate_warnings(cluster, profile);
  all.insert(all.end(), of_rates.begin(), of_rates.end());
  const std::string mismatch = gpu_mismatch(profile, cluster);
  if (!mismatch.empty()) {
    all.push_back(mismatch);
  }
  std::string text;
  for (const std::string& warning : all) {
    text += fmt::format("Warning: {}\n", warning);
  }
  return text;
}

}  // namespace

int run_calibrate_logs(const CalibrateOptions& options) {
  const Cluster cluster = wired(load_cluster(options.input.cluster, options.input.overrides));
  check_outputs({options.out}, files_of(options, cluster));
  const std::vector<NcclLog> logs = read_logs(options);
  require_of_cluster(logs, cluster);
  NcclCalibration calibration = calibrate_from_logs(logs);
  if (calibration.entries.empty()) {
    throw Error(fmt::format("nothing to calibrate: {}", calibration.left_out.front()));
  }
  calibration.profile.name = cluster.name + "_nccl_tests";
  state_rates(cluster, calibration.profile);
  if (!options.input.profile.empty()) {
    add_compute(load_profile(options.input.profile, options.input.overrides), calibration.profile);
  }
  const std::string text = profile_to_text(calibration.profile);
  const std::string report =
      nccl_report(calibration, logs) + warnings(logs, cluster, calibration.profile);
  if (options.out.empty()) {
    print_error(report);
    print_out(text);
    return kExitOk;
  }
  write_file_atomically(options.out, text);
  print_out(fmt::format(
      "{}\n{}: {}\n", report, options.out, counted(calibration.entries.size(), "collective")));
  return kExitOk;
}

}  // namespace moesim
