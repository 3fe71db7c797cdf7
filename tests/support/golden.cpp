#include "tests/support/golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

namespace moesim::test {
namespace {

bool is_updating() {
  const char* value = std::getenv("MOESIM_UPDATE_GOLDEN");
  return value != nullptr && std::string(value) == "1";
}

// The first line in which the two differ.
std::string first_difference(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected);
  std::istringstream right(actual);
  std::string expected_line;
  std::string actual_line;
  for (int line = 1;; ++line) {
    const bool has_expected = static_cast<bool>(std::getline(left, expected_line));
    const bool has_actual = static_cast<bool>(std::getline(right, actual_line));
    if (!has_expected && !has_actual) {
      return "only the line ends differ";
    }
    if (!has_expected || !has_actual || expected_line != actual_line) {
      return fmt::format("line {}\n  expected: {}\n  actual:   {}",
                         line,
                         has_expected ? expected_line : "(no such line)",
                         has_actual ? actual_line : "(no such line)");
    }
  }
}

}  // namespace

std::string golden_difference(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path("tests/golden") / name;
  if (is_updating()) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fmt::format("{} is missing; make it with MOESIM_UPDATE_GOLDEN=1", path.string());
  }
  std::ostringstream expected;
  expected << file.rdbuf();
  return expected.str() == text ? std::string()
                                : path.string() + ", " + first_difference(expected.str(), text) +
                                      "\nMOESIM_UPDATE_GOLDEN=1 rewrites it; review what changes";
}

}  // namespace moesim::test
