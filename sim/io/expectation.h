#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// What one schedule is expected to do. Degrees are the largest of all layers.
struct ExpectedSchedule {
  std::string schedule;
  Time iteration;  // more than zero
  int forward_degree = 1;
  int backward_degree = 1;
  std::optional<int> non_moe_degree;  // sp_moe
};

// The stored results of one scenario, which `moesim check` recomputes.
struct Expectation {
  std::string path;               // of the file it came from
  std::string scenario_path;      // resolved
  double relative_tolerance = 0;  // of the times; 0: exact
  std::vector<ExpectedSchedule> schedules;
};

// Reads an expectation in text format or JSON. The scenario's file exists; schedules must be among
// `known_schedules` unless that is empty. Throws Error.
Expectation load_expectation(const std::string& path,
                             const std::vector<std::string>& known_schedules = {});

// The same for text that was read from `path`; the scenario's file is not looked for.
Expectation parse_expectation(const std::string& text,
                              const std::string& path,
                              const std::vector<std::string>& known_schedules = {});

// In text format, with the scenario's path relative to the expectation's.
std::string expectation_to_text(const Expectation& expectation);

}  // namespace moesim
