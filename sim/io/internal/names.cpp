#include "sim/io/internal/names.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/io/suggestion.h"

namespace moesim::io {
namespace {

bool is_known(const std::string& schedule, const std::vector<std::string>& known) {
  return known.empty() || std::find(known.begin(), known.end(), schedule) != known.end();
}

std::string unknown_schedule(const std::string& schedule, const std::vector<std::string>& known) {
  return fmt::format("no schedule {}; {}", in_quotes(schedule), suggestion(schedule, known));
}

}  // namespace

std::vector<std::string> unique_texts(const Fields& fields, const char* name) {
  std::vector<std::string> values = fields.texts(name);
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) != value) {
      const auto index = static_cast<int>(value - values.begin());
      throw fields.error(name, index, fmt::format("{} twice; remove one", in_quotes(*value)));
    }
  }
  return values;
}

std::vector<std::string> read_schedules(const Fields& fields,
                                        const char* name,
                                        const std::vector<std::string>& known) {
  std::vector<std::string> schedules = unique_texts(fields, name);
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    if (!is_known(schedules[i], known)) {
      throw fields.error(name, static_cast<int>(i), unknown_schedule(schedules[i], known));
    }
  }
  return schedules;
}

std::string read_schedule(const Fields& fields,
                          const char* name,
                          const std::vector<std::string>& known) {
  std::string schedule = fields.text(name);
  if (!is_known(schedule, known)) {
    throw fields.error(name, unknown_schedule(schedule, known));
  }
  return schedule;
}

void require_file(const Fields& fields, const char* name, const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) {
    throw fields.error(name, fmt::format("{}: there is no such file; check the path", path));
  }
  if (std::filesystem::is_directory(status)) {
    throw fields.error(name, fmt::format("{}: is a folder; name a file in it", path));
  }
}

}  // namespace moesim::io
