#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "calibration/measured_crosscheck.h"
#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/cli/validate/sections.h"
#include "sim/io/files.h"

namespace moesim::validation {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> stored_files(const std::string& folder) {
  std::vector<std::string> files;
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") {
        files.push_back(entry.path().generic_string());
      }
    }
  }
  if (files.empty()) {
    throw Error(folder, "no stored crosscheck (.json) here; run it in the repository's root");
  }
  std::sort(files.begin(), files.end());
  return files;
}

void add_schedules(const Crosscheck& crosscheck, SectionWriter& writer) {
  const std::vector<std::vector<std::string>> cells = schedule_cells(crosscheck);
  Table table(cells.front());
  for (std::size_t i = 1; i < cells.size(); ++i) {
    table.add(cells[i]);
  }
  writer.add(table);
}

double worst_speedup_error(const Crosscheck& crosscheck) {
  double worst = 0;
  for (const ScheduleComparison& row : crosscheck.rows) {
    worst = std::max(worst, std::abs(speedup_error(crosscheck, row)));
  }
  return worst;
}

// One figure and what it is held to.
class Claims {
 public:
  explicit Claims(SectionWriter& writer) : writer_(&writer) {}

  void add_share(const std::string& claim, double share, const std::optional<double>& bar) {
    const auto percent = [](double value) { return fmt::format("{:.1f} %", 100 * value); };
    table_.add({claim,
                percent(share),
                bar ? "at most " + percent(*bar) : "none",
                bar ? verdict(share <= *bar) : "information"});
  }

  void add_ranking(const Ranking& ranking, bool is_held) {
    table_.add({fmt::format("pairs of schedules in the measured order, of {} that differ by more "
                            "than {:.0f} %",
                            ranking.num_pairs,
                            100 * kRankingMargin),
                fmt::to_string(ranking.num_agreeing),
                is_held ? "all" : "none",
                is_held ? verdict(ranking.num_agreeing == ranking.num_pairs) : "information"});
  }

  void write() { writer_->add(table_); }

 private:
  std::string verdict(bool met) {
    return writer_->verdict(met ? Standing::kConsistent : Standing::kMiss);
  }

  SectionWriter* writer_;
  Table table_{{"Figure", "here", "bar", "standing"}};
};

void add_claims(const MeasuredCrosscheck& measured, SectionWriter& writer) {
  const Crosscheck& crosscheck = measured.crosscheck;
  const CrosscheckBar& bar = measured.bar;
  Claims claims(writer);
  claims.add_share("largest error of a schedule", worst_error(crosscheck), bar.error);
  claims.add_share("median error over schedules", median_error(crosscheck), bar.median_error);
  claims.add_share(fmt::format("largest error of a speed-up over `{}`", crosscheck.baseline),
                   worst_speedup_error(crosscheck),
                   bar.speedup_error);
  claims.add_ranking(ranking(crosscheck), bar.ranking);
  claims.write();
}

void add_list(const std::string& title,
              const std::vector<std::string>& items,
              SectionWriter& writer) {
  if (!items.empty()) {
    writer.say(fmt::format("{}:\n\n- {}", title, fmt::join(items, "\n- ")));
  }
}

void add_file(const std::string& path, SectionWriter& writer) {
  const std::string text = read_file(path);
  const MeasuredCrosscheck measured = parse_measured_crosscheck(path, text);
  writer.say(fmt::format("### `{}` ({})", path, content_hash(text)));
  writer.say(fmt::format("Measured on {}, on {}. Rerun with: `{}`; figures differ from run to run.",
                         measured.date,
                         measured.machine,
                         measured.command));
  if (measured.crosscheck.modelled) {
    writer.say(
        "A **wiring test**: operations last what the profile says, in the prediction as in the "
        "execution, and the backend's links are max-min by construction. It tests streams, queues, "
        "events and sharing, and says nothing of how well costs are known.");
  }
  add_schedules(measured.crosscheck, writer);
  add_claims(measured, writer);
  add_list("Not run", measured.crosscheck.not_run, writer);
  add_list("Rests on", measured.crosscheck.assumptions, writer);
}

}  // namespace

Finding study_crosscheck(const CrosscheckStudy& study) {
  SectionWriter writer;
  writer.say(
      "Schedules that the simulator predicted and `moesim crosscheck` then ran for real. Nothing "
      "is "
      "measured when this file is written: each result was measured once, on the machine that it "
      "names, and is stored as it was printed. Measured is the median over accepted runs (25th "
      "percentile); runs that the machine disturbed are rejected. An error is the predicted time "
      "over the measured one, less 1; likewise for speed-ups.");
  for (const std::string& path : stored_files(study.folder)) {
    add_file(path, writer);
  }
  return std::move(writer).finish();
}

}  // namespace moesim::validation
