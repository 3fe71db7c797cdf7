#include "sim/io/sweep.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/io/files.h"
#include "sim/io/internal/fields.h"
#include "sim/io/internal/names.h"

namespace moesim {
namespace {

using io::Fields;

constexpr std::size_t kMaxPoints = 1'000'000;

// What is wrong with a field as an axis; empty when it is one.
std::string axis_problem(const std::string& field) {
  // The sweep has these two fields itself, and its rows are of the schedules that it names there.
  const std::string name = field.substr(0, field.find('['));
  if (name == "schedules" || name == "baseline") {
    return fmt::format("\"{0}\" is no axis; write {0} beside the axes", name);
  }
  return io::override_field_problem(field);
}

SweepAxis read_axis(const Fields& fields) {
  SweepAxis axis = {.field = fields.text("field"), .values = io::unique_texts(fields, "values")};
  const std::string problem = axis_problem(axis.field);
  if (!problem.empty()) {
    throw fields.error("field", problem);
  }
  if (axis.values.empty()) {
    throw fields.error("values", fmt::format("axis \"{}\" has no values; add one", axis.field));
  }
  return axis;
}

Sweep read_sweep(const io::Document& document, const std::vector<std::string>& known_schedules) {
  const Fields root = document.root();
  Sweep sweep;
  sweep.path = document.path();
  sweep.scenario_path = resolve_path(sweep.path, root.text("scenario"));
  std::set<std::string> seen;
  std::size_t num_points = 1;
  for (const Fields& fields : root.children("axes")) {
    sweep.axes.push_back(read_axis(fields));
    const SweepAxis& axis = sweep.axes.back();
    if (!seen.insert(axis.field).second) {
      throw fields.error("field",
                         fmt::format("a second axis {}; join them", in_quotes(axis.field)));
    }
    num_points *= axis.values.size();
    if (num_points > kMaxPoints) {
      throw fields.error("values", "more than 1,000,000 points; use fewer values");
    }
  }
  sweep.schedules = io::read_schedules(root, "schedules", known_schedules);
  if (root.has("baseline")) {
    sweep.baseline = io::read_schedule(root, "baseline", known_schedules);
  }
  return sweep;
}

}  // namespace

Sweep load_sweep(const std::string& path, const std::vector<std::string>& known_schedules) {
  const io::Document document(io::Schema::kSweep, read_file(path), path);
  Sweep sweep = read_sweep(document, known_schedules);
  io::require_file(document.root(), "scenario", sweep.scenario_path);
  return sweep;
}

Sweep parse_sweep(const std::string& text,
                  const std::string& path,
                  const std::vector<std::string>& known_schedules) {
  return read_sweep(io::Document(io::Schema::kSweep, text, path), known_schedules);
}

}  // namespace moesim
