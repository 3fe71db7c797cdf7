#include "calibration/nccl_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

std::string residual(double said, double measured) {
  return fmt::format("{:+.1f} %", 100 * (said / measured - 1));
}

std::string microseconds(double seconds) {
  return fmt::format("{:.2f} us", 1e6 * seconds);
}

std::string heading(const NcclEntry& entry, const CollectiveCost& cost) {
  const char* per = cost.startup_per == StartupPer::kPeer ? " for each other rank" : "";
  std::string text = fmt::format("{} on {}: n = {}, start-up {}{}",
                                 to_string(entry.operation),
                                 to_string(entry.layout),
                                 entry.line.fit.num_samples,
                                 microseconds(cost.startup_seconds),
                                 per);
  if (entry.line_holds && entry.line.seconds_per_unit > 0) {
    text += fmt::format(", line {:.4g} GB/s, r2 {:.6f}, standard error {:.2g} % of the slope",
                        1e-9 / entry.line.seconds_per_unit,
                        entry.line.fit.r_squared,
                        100 * entry.line.fit.standard_error);
  } else {
    text += ", no line holds within 10 %";
  }
  return text + '\n';
}

std::string table_of(const NcclEntry& entry) {
  using enum Align;
  TextTable table({kRight, kRight, kRight, kRight, kRight}, 2);
  table.add_row({"size", "measured", "table", "line", "from other sizes"});
  table.add_rule();
  for (const NcclPoint& point : entry.points) {
    const double measured = point.measured_seconds;
    table.add_row({format_bytes(point.bytes),
                   microseconds(measured),
                   residual(point.table_seconds, measured),
                   residual(point.line_seconds, measured),
                   point.without_seconds > 0 ? residual(point.without_seconds, measured) : "-"});
  }
  return table.to_string();
}

}  // namespace

std::string nccl_report(const NcclCalibration& calibration, const std::vector<NcclLog>& logs) {
  std::string text;
  for (std::size_t i = 0; i < calibration.entries.size(); ++i) {
    text += heading(calibration.entries[i], calibration.profile.collectives[i]) +
            table_of(calibration.entries[i]) + '\n';
  }
  for (const std::string& test : calibration.left_out) {
    text += fmt::format("Left out: {}\n", visible_in_line(test));
  }
  for (const NcclLog& log : logs) {
    for (const DroppedRow& row : log.dropped) {
      text += fmt::format(
          "Dropped: {}:{}: {}\n", visible_in_line(log.path), row.line, visible_in_line(row.reason));
    }
  }
  return text;
}

}  // namespace moesim
