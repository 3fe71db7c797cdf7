#include "sim/io/expectation.h"

#include <filesystem>
#include <limits>
#include <set>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/io/files.h"
#include "sim/io/internal/limits.h"
#include "sim/io/internal/names.h"
#include "sim/io/internal/printer.h"
#include "sim/proto/expectation.pb.h"

namespace moesim {
namespace {

using io::Fields;

ExpectedSchedule read_expected(const Fields& fields,
                               const std::vector<std::string>& known_schedules) {
  constexpr std::int64_t kMaxTime = std::numeric_limits<std::int64_t>::max();
  return {.schedule = io::read_schedule(fields, "schedule", known_schedules),
          .iteration =
              Time::from_picoseconds(fields.long_integer("iteration_picoseconds", {1, kMaxTime})),
          .forward_degree = fields.integer("forward_degree", io::kAtLeastOne),
          .backward_degree = fields.integer("backward_degree", io::kAtLeastOne),
          .non_moe_degree = fields.optional_integer("non_moe_degree", io::kAtLeastOne)};
}

Expectation read_expectation(const io::Document& document,
                             const std::vector<std::string>& known_schedules) {
  const Fields root = document.root();
  Expectation expectation;
  expectation.path = document.path();
  expectation.scenario_path = resolve_path(expectation.path, root.text("scenario"));
  expectation.relative_tolerance = root.real_or("relative_tolerance", 0, {0, 1});
  std::set<std::string> seen;
  for (const Fields& fields : root.children("schedules")) {
    expectation.schedules.push_back(read_expected(fields, known_schedules));
    const std::string& name = expectation.schedules.back().schedule;
    if (!seen.insert(name).second) {
      throw fields.error("schedule", fmt::format("a second {}; keep one of them", in_quotes(name)));
    }
  }
  return expectation;
}

}  // namespace

Expectation load_expectation(const std::string& path,
                             const std::vector<std::string>& known_schedules) {
  const io::Document document(io::Schema::kExpectation, read_file(path), path);
  Expectation expectation = read_expectation(document, known_schedules);
  io::require_file(document.root(), "scenario", expectation.scenario_path);
  return expectation;
}

Expectation parse_expectation(const std::string& text,
                              const std::string& path,
                              const std::vector<std::string>& known_schedules) {
  return read_expectation(io::Document(io::Schema::kExpectation, text, path), known_schedules);
}

std::string expectation_to_text(const Expectation& expectation) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(expectation.path).parent_path();
  proto::Expectation message;
  message.set_scenario(fs::path(expectation.scenario_path).lexically_proximate(folder).string());
  message.set_relative_tolerance(expectation.relative_tolerance);
  for (const ExpectedSchedule& expected : expectation.schedules) {
    proto::ExpectedSchedule& part = *message.add_schedules();
    part.set_schedule(expected.schedule);
    part.set_iteration_picoseconds(expected.iteration.picoseconds());
    part.set_forward_degree(expected.forward_degree);
    part.set_backward_degree(expected.backward_degree);
    if (expected.non_moe_degree) {
      part.set_non_moe_degree(*expected.non_moe_degree);
    }
  }
  return io::to_text(message);
}

}  // namespace moesim
