#include "sim/cli/sweep_points.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace moesim {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char character : text) {
    quoted += character == '"' ? "\"\"" : std::string(1, character);
  }
  return quoted + '"';
}

// Errors stay on one line of the table.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// The baseline's iteration over this one's; empty where either is missing or zero.
std::string speedup(const SweepRow& row, const SweepRow* baseline) {
  const double seconds = row.prediction.iteration.seconds();
  if (baseline == nullptr || !baseline->error.empty() || seconds == 0) {
    return "";
  }
  return fmt::format("{}", baseline->prediction.iteration.seconds() / seconds);
}

std::string results(const SweepRow& row, const SweepRow* baseline) {
  if (!row.error.empty()) {
    return fmt::format(",,,,{},,,,", csv_field(one_line(row.error)));
  }
  const Prediction& found = row.prediction;
  return fmt::format("{},{},{},{},,{},{},{},{}",
                     found.iteration.seconds(),
                     speedup(row, baseline),
                     found.forward_degree,
                     found.backward_degree,
                     found.peak_memory_bytes,
                     found.fits,
                     found.non_moe_degree ? std::to_string(*found.non_moe_degree) : "",
                     csv_field(found.variant));
}

}  // namespace

int num_points(const Sweep& sweep) {
  std::size_t count = 1;
  for (const SweepAxis& axis : sweep.axes) {
    count *= axis.values.size();
  }
  return static_cast<int>(count);
}

std::vector<std::string> values_at(const Sweep& sweep, int point) {
  CHECK(point >= 0 && point < num_points(sweep));
  std::vector<std::string> values(sweep.axes.size());
  auto rest = static_cast<std::size_t>(point);
  for (std::size_t i = sweep.axes.size(); i-- > 0;) {
    const std::vector<std::string>& choices = sweep.axes[i].values;
    values[i] = choices[rest % choices.size()];
    rest /= choices.size();
  }
  return values;
}

std::vector<std::string> overrides_at(const Sweep& sweep, int point) {
  std::vector<std::string> overrides = values_at(sweep, point);
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    overrides[i] = sweep.axes[i].field + "=" + overrides[i];
  }
  return overrides;
}

std::string csv_header(const Sweep& sweep) {
  std::string header;
  for (const SweepAxis& axis : sweep.axes) {
    header += csv_field(axis.field) + ",";
  }
  return header +
         "schedule,iteration_seconds,speedup,forward_degree,backward_degree,error,"
         "peak_memory_bytes,fits,non_moe_degree,variant\n";
}

std::string csv_lines(const std::vector<std::string>& values,
                      const std::vector<SweepRow>& rows,
                      const std::string& baseline) {
  std::string point;
  for (const std::string& value : values) {
    point += csv_field(value) + ",";
  }
  const auto is_baseline = [&](const SweepRow& row) { return row.schedule == baseline; };
  const auto found = std::find_if(rows.begin(), rows.end(), is_baseline);
  const SweepRow* base = found == rows.end() ? nullptr : &*found;
  std::string lines;
  for (const SweepRow& row : rows) {
    lines += fmt::format("{}{},{}\n", point, csv_field(row.schedule), results(row, base));
  }
  return lines;
}

}  // namespace moesim
