#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "calibration/measured_nccl.h"
#include "calibration/nccl_profile.h"
#include "calibration/robust_fit.h"
#include "sim/base/hash.h"
#include "sim/cli/validate/sections.h"
#include "sim/collective/layout_model.h"
#include "sim/io/files.h"

namespace moesim::validation {
namespace {

using enum CollectiveOperation;

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

// A prediction beside what was measured.
struct Compared {
  std::int64_t bytes = 0;
  double measured = 0;
  LayoutEstimate estimate;

  double error() const { return estimate.seconds / measured - 1; }
  bool inside() const { return estimate.low <= measured && measured <= estimate.high; }
};

std::vector<double> absolute_errors(const std::vector<Compared>& rows) {
  std::vector<double> errors;
  for (const Compared& row : rows) {
    errors.push_back(std::abs(row.error()));
  }
  return errors;
}

// The stored tests but for some layouts: what a prediction may see.
template <typename Keep>
Profile calibrated(const MeasuredNccl& measured, const Keep& keep) {
  NcclLog log = measured.log;
  std::erase_if(log.runs, [&](const NcclRun& run) { return !keep(run.layout); });
  return calibrate_from_logs({log}).profile;
}

// The sizes of at least `least` that were measured on `target`, predicted from the profile.
std::vector<Compared> compare(const MeasuredNccl& measured,
                              const Profile& profile,
                              CollectiveOperation operation,
                              const Layout& target,
                              std::int64_t least) {
  const LayoutModel model(profile, operation);
  std::vector<Compared> rows;
  for (const NcclRun& run : measured.log.runs) {
    if (run.collective != nccl_collective(operation).name || run.layout != target) {
      continue;
    }
    for (const NcclRow& row : run.rows) {
      // All-gathers of ranks that are no power of two are a few bytes short of a round size.
      if (row.bytes >= least - least / 1000) {
        rows.push_back(
            {row.bytes, row.seconds(), model.estimate(target, static_cast<double>(row.bytes))});
      }
    }
  }
  return rows;
}

void add_rows(const std::string& name, const std::vector<Compared>& rows, Table& table) {
  for (const Compared& row : rows) {
    table.add({name,
               fmt::format("{}", row.bytes),
               fmt::format("{:.1f}", 1e6 * row.measured),
               fmt::format("{:.1f}", 1e6 * row.estimate.seconds),
               fmt::format("{:+.1f} %", 100 * row.error()),
               fmt::format("{:.0f} to {:.0f}{}",
                           1e6 * row.estimate.low,
                           1e6 * row.estimate.high,
                           row.inside() ? "" : ", outside")});
  }
}

Table prediction_table() {
  return Table({"collective", "bytes", "measured us", "predicted us", "error", "interval us"});
}

MeasuredNccl load(const LinksStudy& study, const char* name, SectionWriter& writer) {
  const std::string path = fmt::format("{}/{}.json", study.folder, name);
  const std::string text = read_file(path);
  MeasuredNccl measured = parse_measured_nccl(path, text);
  writer.say(fmt::format("`{}` ({}): {}. Measured by: {}.",
                         path,
                         content_hash(text),
                         measured.machine,
                         measured.source));
  return measured;
}

std::string standing(bool met, SectionWriter& writer) {
  return writer.verdict(met ? Standing::kConsistent : Standing::kMiss);
}

void study_h100(const LinksStudy& study, SectionWriter& writer) {
  writer.say("### Two levels: 10 nodes × 4 H100 from 1 × 8 and 10 × 1");
  const MeasuredNccl measured = load(study, "h100", writer);
  const Layout target{10, 4};
  const Profile profile =
      calibrated(measured, [&](const Layout& layout) { return layout != target; });
  Table table = prediction_table();
  std::vector<double> errors;
  for (const CollectiveOperation operation : {kAllReduce, kAllGather, kReduceScatter, kAllToAll}) {
    const std::vector<Compared> rows = compare(measured, profile, operation, target, 32 * kMiB);
    add_rows(to_string(operation), rows, table);
    const std::vector<double> more = absolute_errors(rows);
    errors.insert(errors.end(), more.begin(), more.end());
  }
  writer.add(table);
  const double middle = median(errors);
  const double worst = *std::max_element(errors.begin(), errors.end());
  Table claims({"Figure", "here", "bar", "standing"});
  claims.add({"median absolute error",
              percent(middle),
              "at most " + percent(study.h100_median),
              standing(middle <= study.h100_median, writer)});
  claims.add({"largest absolute error",
              percent(worst),
              "at most " + percent(study.h100_worst),
              standing(worst <= study.h100_worst, writer)});
  writer.add(claims);
}

void study_polaris(const LinksStudy& study, SectionWriter& writer) {
  writer.say("### More nodes: 128 nodes × 4 A100 from 2 and 8 nodes, all-gather");
  const MeasuredNccl measured = load(study, "polaris_tuned", writer);
  const Layout target{128, 4};
  const Profile profile =
      calibrated(measured, [&](const Layout& layout) { return layout != target; });
  const std::vector<Compared> rows = compare(measured, profile, kAllGather, target, 64 * kKiB);
  Table table = prediction_table();
  add_rows("ALL_GATHER", rows, table);
  writer.add(table);
  const double middle = median(absolute_errors(rows));
  const auto inside =
      std::count_if(rows.begin(), rows.end(), [](const Compared& row) { return row.inside(); });
  Table claims({"Figure", "here", "bar", "standing"});
  claims.add({"median absolute error",
              percent(middle),
              "at most " + percent(study.polaris_median),
              standing(middle <= study.polaris_median, writer)});
  claims.add({fmt::format("of {} sizes inside the stated interval", rows.size()),
              fmt::format("{}", inside),
              "none",
              "information"});
  writer.add(claims);
}

// Interior sizes from 64 KiB to 32 MiB, each interpolated from the log's other sizes.
std::vector<double> errors_without(const NcclEntry& entry) {
  std::vector<double> errors;
  for (const NcclPoint& point : entry.points) {
    if (point.without_seconds > 0 && point.bytes >= 64 * kKiB && point.bytes <= 32 * kMiB) {
      errors.push_back(std::abs(point.without_seconds / point.measured_seconds - 1));
    }
  }
  return errors;
}

void study_sizes(const LinksStudy& study, SectionWriter& writer) {
  writer.say("### Sizes: each size from 64 KiB to 32 MiB from the log's other sizes");
  constexpr std::size_t kFewest = 5;
  Table table({"figures", "collective", "layout", "sizes", "median error", "largest", "standing"});
  std::vector<double> all;
  for (const char* name :
       {"h100", "polaris_tuned", "polaris_default", "a100_node", "sirius", "rtx3090"}) {
    const std::string path = fmt::format("{}/{}.json", study.folder, name);
    const MeasuredNccl measured = parse_measured_nccl(path, read_file(path));
    for (const NcclEntry& entry : calibrate_from_logs({measured.log}).entries) {
      const std::vector<double> errors = errors_without(entry);
      if (errors.size() < kFewest) {
        continue;
      }
      all.insert(all.end(), errors.begin(), errors.end());
      const double middle = median(errors);
      table.add({name,
                 to_string(entry.operation),
                 to_string(entry.layout),
                 fmt::format("{}", errors.size()),
                 percent(middle),
                 percent(*std::max_element(errors.begin(), errors.end())),
                 standing(middle <= study.size_median, writer)});
    }
  }
  writer.add(table);
  writer.say(fmt::format(
      "Held to a median of at most {} in each log. Over all {} sizes the median is {}. A log that "
      "misses it has jumps where NCCL changes its protocol, which two neighbours cannot show.",
      percent(study.size_median),
      all.size(),
      percent(median(all))));
}

}  // namespace

Finding study_links(const LinksStudy& study) {
  SectionWriter writer;
  writer.say(
      "Published logs of nccl-tests, kept as tables of sizes and times. Of each what is predicted "
      "is "
      "left out of the calibration; nothing is fitted to it. Measured is the mean of the times out "
      "of place and in place, of AlltoAll out of place alone. How predictions are made: "
      "[calibration.md](calibration.md), \"From nccl-tests logs\".");
  study_h100(study, writer);
  study_polaris(study, writer);
  study_sizes(study, writer);
  return std::move(writer).finish();
}

}  // namespace moesim::validation
