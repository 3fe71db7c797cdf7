#include "sim/io/sweep.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "sim/io/files.h"
#include "sim/io/internal/fields.h"
#include "sim/io/internal/names.h"

namespace moesim {
namespace {

using io::Fields;

constexpr std::size_t kMaxPoints = 1'000'000;

SweepAxis read_axis(const Fields& fields) {
  SweepAxis axis = {.field = fields.text("field"), .values = io::unique_texts(fields, "values")};
  const std::string problem = io::override_field_problem(axis.field);
  if (!problem.empty()) {
    throw fields.error("field", problem);
  }
  if (axis.values.empty()) {
    throw fields.error("values", fmt::format("axis \"{}\" has no values; add one", axis.field));
  }
  return axis;
}

}  // namespace

Sweep load_sweep(const std::string& path) {
  return parse_sweep(read_file(path), path);
}

Sweep parse_sweep(const std::string& text, const std::string& path) {
  const io::Document document(io::Schema::kSweep, text, path);
  const Fields root = document.root();
  Sweep sweep;
  sweep.path = path;
  sweep.scenario_path = resolve_path(path, root.text("scenario"));
  std::set<std::string> seen;
  std::size_t num_points = 1;
  for (const Fields& fields : root.children("axes")) {
    sweep.axes.push_back(read_axis(fields));
    const SweepAxis& axis = sweep.axes.back();
    if (!seen.insert(axis.field).second) {
      throw fields.error("field", fmt::format("a second axis \"{}\"; join them", axis.field));
    }
    num_points *= axis.values.size();
    if (num_points > kMaxPoints) {
      throw fields.error("values", "more than 1,000,000 points; use fewer values");
    }
  }
  sweep.schedules = io::unique_texts(root, "schedules");
  sweep.baseline = root.text_or("baseline", "");
  return sweep;
}

}  // namespace moesim
