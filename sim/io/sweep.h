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

// Reads a sweep in text format or JSON. The axes' fields exist; whether a value suits its field is
// seen when its points are run. Throws Error.
Sweep load_sweep(const std::string& path);

// The same for text that was read from `path`.
Sweep parse_sweep(const std::string& text, const std::string& path);

}  // namespace moesim
