#include "sim/cli/lineup.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/suggestion.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_name(const std::string& schedule) {
  if (schedule.empty()) {
    throw Error(
        "--schedules holds an empty name; name schedules as in tutel,fsmoe or leave it out");
  }
  const std::vector<std::string>& all = schedule_names();
  if (!contains(all, schedule)) {
    throw Error(
        fmt::format("there is no schedule {}; {}", in_quotes(schedule), suggestion(schedule, all)));
  }
}

void check_unique(const std::vector<std::string>& schedules) {
  for (auto name = schedules.begin(); name != schedules.end(); ++name) {
    if (std::find(schedules.begin(), name, *name) != name) {
      throw Error(fmt::format("--schedules names {} twice; remove one", *name));
    }
  }
}

}  // namespace

std::string choose_schedule(const Scenario& scenario, const std::string& schedule) {
  if (!schedule.empty()) {
    check_name(schedule);
    return schedule;
  }
  if (scenario.schedules.empty()) {
    throw Error(scenario.path, "it lists no schedule; add one or give --schedule NAME");
  }
  return scenario.schedules.front();
}

Lineup choose_lineup(const Scenario& scenario,
                     std::vector<std::string> schedules,
                     std::string baseline) {
  if (schedules.empty()) {
    schedules = scenario.schedules;
  }
  if (!baseline.empty() && !contains(schedules, baseline)) {
    schedules.insert(schedules.begin(), baseline);
  }
  if (schedules.empty()) {
    throw Error(scenario.path, "it lists no schedules; add some or name them on the command line");
  }
  std::for_each(schedules.begin(), schedules.end(), check_name);
  check_unique(schedules);
  if (baseline.empty()) {
    baseline = contains(schedules, scenario.baseline) ? scenario.baseline : schedules.front();
  }
  return {std::move(schedules), std::move(baseline)};
}

}  // namespace moesim
