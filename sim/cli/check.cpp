#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/junit.h"
#include "sim/cli/output.h"
#include "sim/cli/prediction.h"
#include "sim/cli/progress.h"
#include "sim/io/expectation.h"
#include "sim/io/files.h"
#include "sim/io/gpu_match.h"
#include "sim/io/output_paths.h"
#include "sim/report/text.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultFolder = "scenarios/expected";

// An expectation beside what is predicted now.
struct CheckedSchedule {
  ExpectedSchedule expected;
  ExpectedSchedule found;
  bool drifted = false;
};

struct CheckedFile {
  Expectation expectation;
  std::vector<CheckedSchedule> schedules;
  std::string warning;  // empty: none
};

// The expectation files below a folder, by name; any other path stands for itself.
std::vector<std::string> files_at(const std::string& path) {
  if (path.empty()) {
    throw Error("a path is empty; name an expectation file or a folder of them");
  }
  if (!fs::is_directory(path)) {
    return {path};
  }
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".txtpb" || extension == ".json") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    throw Error(path, "no expectation file (.txtpb or .json) in this folder; name another");
  }
  return files;
}

// Each file once, however it is named.
std::vector<std::string> choose_files(std::vector<std::string> paths) {
  if (paths.empty()) {
    paths.emplace_back(kDefaultFolder);
  }
  std::vector<std::string> files;
  std::set<fs::path> seen;
  for (const std::string& path : paths) {
    for (const std::string& file : files_at(path)) {
      if (seen.insert(fs::weakly_canonical(file)).second) {
        files.push_back(file);
      }
    }
  }
  return files;
}

ExpectedSchedule predict_now(const Inputs& inputs, const std::string& schedule) {
  const Prediction prediction = predict(inputs, schedule);
  return {.schedule = schedule,
          .iteration = prediction.iteration,
          .forward_degree = prediction.forward_degree,
          .backward_degree = prediction.backward_degree,
          .non_moe_degree = prediction.non_moe_degree};
}

bool same_degrees(const ExpectedSchedule& a, const ExpectedSchedule& b) {
  return a.forward_degree == b.forward_degree && a.backward_degree == b.backward_degree &&
         a.non_moe_degree == b.non_moe_degree;
}

// |found - expected| <= tolerance * expected
bool same_time(const ExpectedSchedule& expected, const ExpectedSchedule& found, double tolerance) {
  const double difference = (found.iteration - expected.iteration).seconds();
  return std::abs(difference) <= tolerance * expected.iteration.seconds();
}

CheckedFile check_file(const std::string& path) {
  CheckedFile file{load_expectation(path, schedule_names()), {}, {}};
  if (file.expectation.schedules.empty()) {
    throw Error(path, "it expects nothing yet; fill it in with moesim check --update");
  }
  const Inputs inputs = load_scenario_inputs(file.expectation.scenario_path);
  file.warning = gpu_mismatch(inputs.profile, inputs.cluster);
  for (const ExpectedSchedule& expected : file.expectation.schedules) {
    const ExpectedSchedule found = predict_now(inputs, expected.schedule);
    const bool same = same_degrees(expected, found) &&
                      same_time(expected, found, file.expectation.relative_tolerance);
    file.schedules.push_back({expected, found, !same});
  }
  return file;
}

// The schedules of the expectation; of one that expects nothing yet, the scenario's.
std::vector<std::string> schedules_of(const Expectation& expectation, const Scenario& scenario) {
  if (expectation.schedules.empty()) {
    return scenario.schedules;
  }
  std::vector<std::string> names;
  for (const ExpectedSchedule& expected : expectation.schedules) {
    names.push_back(expected.schedule);
  }
  return names;
}

std::string updated_text(const std::string& path) {
  Expectation expectation = load_expectation(path, schedule_names());
  const Inputs inputs = load_scenario_inputs(expectation.scenario_path);
  const std::vector<std::string> schedules = schedules_of(expectation, inputs.scenario);
  expectation.schedules.clear();
  for (const std::string& schedule : schedules) {
    expectation.schedules.push_back(predict_now(inputs, schedule));
  }
  return expectation_to_text(expectation);
}

std::string degrees_text(const ExpectedSchedule& schedule) {
  std::string text = fmt::format("{}/{}", schedule.forward_degree, schedule.backward_degree);
  return schedule.non_moe_degree ? text + fmt::format(" ({})", *schedule.non_moe_degree) : text;
}

std::string drift_text(const CheckedSchedule& schedule) {
  const auto& [expected, found, drifted] = schedule;
  const double change = 100 * (ratio(found.iteration, expected.iteration) - 1);
  return fmt::format("expected {} with degrees {}, found {} with degrees {} ({:+.4g} %)",
                     format_time_exact(expected.iteration),
                     degrees_text(expected),
                     format_time_exact(found.iteration),
                     degrees_text(found),
                     change);
}

std::string line_of(const CheckedSchedule& schedule) {
  const std::string name = fmt::format("{:<18}", schedule.expected.schedule);
  if (schedule.drifted) {
    return fmt::format("  DRIFT  {} {}\n", name, drift_text(schedule));
  }
  return fmt::format("  ok     {} {}\n", name, format_time(schedule.found.iteration));
}

int num_drifted(const std::vector<CheckedFile>& files) {
  std::ptrdiff_t count = 0;
  for (const CheckedFile& file : files) {
    count += std::count_if(file.schedules.begin(), file.schedules.end(), [](const auto& schedule) {
      return schedule.drifted;
    });
  }
  return static_cast<int>(count);
}

std::string to_text(const std::vector<CheckedFile>& files) {
  std::string text;
  std::size_t count = 0;
  for (const CheckedFile& file : files) {
    text += visible_in_line(file.expectation.path) + "\n";
    if (!file.warning.empty()) {
      text += fmt::format("  warning: {}\n", file.warning);
    }
    for (const CheckedSchedule& schedule : file.schedules) {
      text += line_of(schedule);
    }
    count += file.schedules.size();
  }
  const int drifted = num_drifted(files);
  text += fmt::format("{} in {}, {} drifted\n",
                      counted(count, "prediction"),
                      counted(files.size(), "file"),
                      drifted);
  return drifted == 0 ? text
                      : text + "if the change is meant, rewrite them: moesim check --update\n";
}

std::vector<JunitCase> junit_cases(const std::vector<CheckedFile>& files) {
  std::vector<JunitCase> cases;
  for (const CheckedFile& file : files) {
    for (const CheckedSchedule& schedule : file.schedules) {
      cases.push_back({.group = file.expectation.path,
                       .name = schedule.expected.schedule,
                       .failure = schedule.drifted ? drift_text(schedule) : ""});
    }
  }
  return cases;
}

// All texts exist before the first file is written.
int update(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  {
    Progress progress("files", static_cast<int>(paths.size()));
    for (const std::string& path : paths) {
      texts.push_back(updated_text(path));
      progress.add_one();
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    write_file_atomically(paths[i], texts[i]);
    print_out(visible_in_line(paths[i]) + ": rewritten\n");
  }
  return kExitOk;
}

// The report must not take the place of what it is a report on.
void check_junit(const std::string& junit, const std::vector<std::string>& paths) {
  std::vector<std::string> inputs = paths;
  for (const std::string& path : paths) {
    const std::string scenario = load_expectation(path, schedule_names()).scenario_path;
    const std::vector<std::string> files = files_of(load_scenario_inputs(scenario));
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  check_outputs({junit}, inputs);
}

int check(const std::vector<std::string>& paths, const std::string& junit) {
  if (!junit.empty()) {
    check_junit(junit, paths);
  }
  std::vector<CheckedFile> files;
  {
    Progress progress("files", static_cast<int>(paths.size()));
    for (const std::string& path : paths) {
      files.push_back(check_file(path));
      progress.add_one();
    }
  }
  if (!junit.empty()) {
    write_file_atomically(junit, junit_xml("moesim check", junit_cases(files)));
  }
  print_out(to_text(files));
  return num_drifted(files) == 0 ? kExitOk : kExitMissed;
}

}  // namespace

int run_check(const CheckOptions& options) {
  const std::vector<std::string> paths = choose_files(options.paths);
  return options.update ? update(paths) : check(paths, options.junit);
}

}  // namespace moesim
