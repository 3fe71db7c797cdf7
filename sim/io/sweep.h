#pragma once

#include <string>
#include <vector>

namespace moesim {

// A field as --set names it, and the texts of its values.
struct SweepAxis {
  std::string field;
  std::vector<std::string> values;
};

// One scenario at every combination of its axes' values; the last axis varies fastest.
struct Sweep {
  std::string path;           // of the file it came from
  std::string scenario_path;  // resolved
  std::vector<SweepAxis> axes;
  std::vector<std::string> schedules;  // empty: the scenario's
  std::string baseline;                // empty: the scenario's
};

// Reads a sweep in text format or JSON. The axes' fields and the scenario's file exist; whether a
// value suits its field is seen when its points are run. Schedules must be among `known_schedules`
// unless that is empty. Throws Error.
Sweep load_sweep(const std::string& path, const std::vector<std::string>& known_schedules = {});

// The same for text that was read from `path`; the scenario's file is not looked for.
Sweep parse_sweep(const std::string& text,
                  const std::string& path,
                  const std::vector<std::string>& known_schedules = {});

}  // namespace moesim
