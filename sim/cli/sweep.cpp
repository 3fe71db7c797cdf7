#include "sim/io/sweep.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"
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
#include "sim/io/files.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

namespace fs = std::filesystem;

struct Study {
  Sweep sweep;
  Lineup lineup;
  std::string hash;  // of everything that the table depends on
};

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
    const bool names_files = axis.field == "cluster" || axis.field == "profile";
    for (const std::string& value : names_files ? axis.values : std::vector<std::string>()) {
      add_texts(hash, {content_of(resolve_path(sweep.scenario_path, value))});
    }
  }
  return hash.hex();
}

Study load_study(const std::string& path) {
  Sweep sweep = load_sweep(path);
  const Inputs base = load_scenario_inputs(sweep.scenario_path);
  Lineup lineup = choose_lineup(base.scenario, sweep.schedules, sweep.baseline);
  std::string hash = hash_of(sweep, base, lineup);
  return {std::move(sweep), std::move(lineup), std::move(hash)};
}

SweepRow error_row(const std::string& schedule, const Error& error) {
  SweepRow row;
  row.schedule = schedule;
  row.error = error.what();
  return row;
}

SweepRow row_at(const Inputs& inputs, const std::string& schedule) {
  try {
    const Prediction prediction = predict(inputs, schedule);
    SweepRow row;
    row.schedule = schedule;
    row.iteration_seconds = prediction.iteration.seconds();
    row.forward_degree = prediction.forward_degree;
    row.backward_degree = prediction.backward_degree;
    return row;
  } catch (const Error& error) {
    return error_row(schedule, error);
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
      rows.push_back(error_row(schedule, error));
    }
  }
  return rows;
}

std::string lines_at(const Study& study, int point) {
  return csv_lines(values_at(study.sweep, point), rows_at(study, point), study.lineup.baseline);
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
                          .work = [&study](int point) { return lines_at(study, point); },
                          .done =
                              [&](int point, const std::string& lines) {
                                journal.add(point, lines);
                                progress.add_one();
                              }};
  run_in_workers(tasks, num_workers);
}

std::string table(const Sweep& sweep, const SweepJournal& journal) {
  std::string text = csv_header(sweep);
  for (const auto& [point, lines] : journal.records()) {
    text += lines;
  }
  return text;
}

// A row without an error ends in the comma before its empty last column.
std::size_t num_errors(const SweepJournal& journal) {
  std::size_t count = 0;
  for (const auto& [point, lines] : journal.records()) {
    for (std::size_t end = lines.find('\n'); end != std::string::npos;
         end = lines.find('\n', end + 1)) {
      count += lines[end - 1] == ',' ? 0U : 1U;
    }
  }
  return count;
}

int choose_num_workers(const SweepOptions& options) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return options.workers > 0 ? options.workers : std::max(cores, 1);
}

std::string choose_output(const SweepOptions& options) {
  return options.out.empty() ? fs::path(options.sweep).stem().string() + ".csv" : options.out;
}

}  // namespace

int run_sweep(const SweepOptions& options) {
  const Study study = load_study(options.sweep);
  const std::string out = choose_output(options);
  const int count = num_points(study.sweep);
  SweepJournal journal(out + ".journal", {std::string(version()), study.hash, count});
  run_missing_points(study, choose_num_workers(options), journal);
  write_file_atomically(out, table(study.sweep, journal));
  fs::remove(journal.path());
  print_out(fmt::format("{}: {} under {}, {}\n",
                        out,
                        counted(static_cast<std::size_t>(count), "point"),
                        counted(study.lineup.schedules.size(), "schedule"),
                        counted(num_errors(journal), "error")));
  return kExitOk;
}

}  // namespace moesim
