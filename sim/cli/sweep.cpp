#include "sim/io/sweep.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/base/message.h"
#include "sim/base/version.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/lineup.h"
#include "sim/cli/output.h"
#include "sim/cli/prediction.h"
#include "sim/cli/progress.h"
#include "sim/cli/sweep_journal.h"
#include "sim/cli/sweep_points.h"
#include "sim/cli/worker_pool.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "sim/io/imported_files.h"
#include "sim/io/output_paths.h"
#include "sim/report/text.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

struct Study {
  Sweep sweep;
  Lineup lineup;
  std::string hash;  // of everything that the table depends on
};

std::string default_output(const SweepOptions& options) {
  return fs::path(options.sweep).stem().string() + ".csv";
}

std::string choose_output(const SweepOptions& options) {
  return options.out.empty() ? default_output(options) : options.out;
}

// Beside the table. A device or a pipe has nothing beside it: then where the table would be by
// default.
std::string journal_of(const SweepOptions& options) {
  const std::string out = choose_output(options);
  return (is_file_or_absent(out) ? out : default_output(options)) + ".journal";
}

// What a cluster file imports; a mistake in it is the error of its points.
std::vector<std::string> imports_of(const std::string& cluster) {
  try {
    return imported_files(load_cluster(cluster));
  } catch (const Error&) {
    return {};
  }
}

// The files that the values of an axis name, with those that they import.
std::vector<std::string> files_of(const Sweep& sweep, const SweepAxis& axis) {
  std::vector<std::string> files;
  if (axis.field != "cluster" && axis.field != "profile") {
    return files;
  }
  for (const std::string& value : axis.values) {
    files.push_back(resolve_path(sweep.scenario_path, value));
    if (axis.field == "cluster") {
      const std::vector<std::string> imports = imports_of(files.back());
      files.insert(files.end(), imports.begin(), imports.end());
    }
  }
  return files;
}

// The content of a file that an axis names; a missing one is the error of its points.
std::string content_of(const std::string& path) {
  return fs::is_regular_file(path) ? read_file(path) : "";
}

void add_texts(Hash& hash, const std::vector<std::string>& texts) {
  hash.add(std::uint64_t{texts.size()});
  for (const std::string& text : texts) {
    hash.add(std::uint64_t{text.size()}).add(text);
  }
}

std::string hash_of(const Sweep& sweep, const Inputs& base, const Lineup& lineup) {
  Hash hash;
  add_texts(hash, {base.hash, lineup.baseline});
  add_texts(hash, lineup.schedules);
  for (const SweepAxis& axis : sweep.axes) {
    add_texts(hash, {axis.field});
    add_texts(hash, axis.values);
    for (const std::string& path : files_of(sweep, axis)) {
      add_texts(hash, {content_of(path)});
    }
  }
  return hash.hex();
}

// Also makes sure that the results will have a place.
Study load_study(const SweepOptions& options) {
  const std::string& path = options.sweep;
  Sweep sweep = load_sweep(path, schedule_names());
  const Inputs base = load_scenario_inputs(sweep.scenario_path);
  std::vector<std::string> inputs = files_of(base);
  inputs.push_back(path);
  for (const SweepAxis& axis : sweep.axes) {
    const std::vector<std::string> files = files_of(sweep, axis);
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  check_outputs({choose_output(options), journal_of(options)}, inputs);
  Lineup lineup = choose_lineup(base.scenario, sweep.schedules, sweep.baseline);
  std::string hash = hash_of(sweep, base, lineup);
  return {std::move(sweep), std::move(lineup), std::move(hash)};
}

// What a point sets is an axis's value to the user, who never wrote --set.
std::string message_at_point(const Error& error) {
  constexpr std::string_view kOverride = "--set ";
  const std::string message = error.what();
  return error.location().starts_with(kOverride) ? "axis " + message.substr(kOverride.size())
                                                 : message;
}

SweepRow error_row(const std::string& schedule, const std::string& error) {
  return {.schedule = schedule, .prediction = {}, .error = error};
}

SweepRow row_at(const Inputs& inputs, const std::string& schedule) {
  try {
    return {.schedule = schedule, .prediction = predict(inputs, schedule), .error = ""};
  } catch (const Error& error) {
    return error_row(schedule, message_at_point(error));
  } catch (const std::exception& error) {
    return error_row(schedule, fmt::format("internal error: {}", error.what()));
  }
}

std::vector<SweepRow> rows_at(const Study& study, int point) {
  std::vector<SweepRow> rows;
  try {
    const Inputs inputs =
        load_scenario_inputs(study.sweep.scenario_path, overrides_at(study.sweep, point));
    for (const std::string& schedule : study.lineup.schedules) {
      rows.push_back(row_at(inputs, schedule));
    }
  } catch (const Error& error) {
    for (const std::string& schedule : study.lineup.schedules) {
      rows.push_back(error_row(schedule, message_at_point(error)));
    }
  }
  return rows;
}

// What the journal keeps of a point.
struct PointRecord {
  std::size_t num_errors = 0;
  std::string lines;  // of the table
};

std::string to_text(const PointRecord& record) {
  return fmt::format("{}\n{}", record.num_errors, record.lines);
}

PointRecord parse_record(const std::string& text) {
  const std::size_t end = text.find('\n');
  CHECK(end != std::string::npos, "the journal's records are of another kind");
  PointRecord record;
  const auto [last, error] = std::from_chars(text.data(), text.data() + end, record.num_errors);
  CHECK(error == std::errc() && last == text.data() + end, "no count of errors");
  record.lines = text.substr(end + 1);
  return record;
}

PointRecord record_at(const Study& study, int point) {
  const std::vector<SweepRow> rows = rows_at(study, point);
  const auto failed = std::count_if(
      rows.begin(), rows.end(), [](const SweepRow& row) { return !row.error.empty(); });
  return {static_cast<std::size_t>(failed),
          csv_lines(values_at(study.sweep, point), rows, study.lineup.baseline)};
}

std::vector<int> missing_points(const SweepJournal& journal, int count) {
  std::vector<int> missing;
  for (int point = 0; point < count; ++point) {
    if (!journal.records().contains(point)) {
      missing.push_back(point);
    }
  }
  return missing;
}

void run_missing_points(const Study& study, int num_workers, SweepJournal& journal) {
  const std::vector<int> missing = missing_points(journal, num_points(study.sweep));
  Progress progress("points", static_cast<int>(missing.size()));
  const WorkerTasks tasks{.indices = missing,
                          .work = [&study](int point) { return to_text(record_at(study, point)); },
                          .done =
                              [&](int point, const std::string& record) {
                                journal.add(point, record);
                                progress.add_one();
                              }};
  run_in_workers(tasks, num_workers);
}

std::string table(const Sweep& sweep, const SweepJournal& journal) {
  std::string text = csv_header(sweep);
  for (const auto& [point, record] : journal.records()) {
    text += parse_record(record).lines;
  }
  return text;
}

std::size_t num_errors(const SweepJournal& journal) {
  std::size_t count = 0;
  for (const auto& [point, record] : journal.records()) {
    count += parse_record(record).num_errors;
  }
  return count;
}

int choose_num_workers(const SweepOptions& options) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return options.workers > 0 ? options.workers : std::max(cores, 1);
}

}  // namespace

int run_sweep(const SweepOptions& options) {
  const std::string out = choose_output(options);
  const Study study = load_study(options);
  const int count = num_points(study.sweep);
  SweepJournal journal(journal_of(options), {std::string(version()), study.hash, count});
  run_missing_points(study, choose_num_workers(options), journal);
  write_file_atomically(out, table(study.sweep, journal));
  fs::remove(journal.path());
  print_out(fmt::format("{}: {} under {}, {}\n",
                        visible_in_line(out),
                        counted(static_cast<std::size_t>(count), "point"),
                        counted(study.lineup.schedules.size(), "schedule"),
                        counted(num_errors(journal), "error")));
  return kExitOk;
}

}  // namespace moesim
