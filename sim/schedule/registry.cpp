#include "sim/schedule/registry.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

const std::string kParm = "parm";

std::vector<ScheduleDefinition> all_definitions() {
  return {deepspeed_moe(),
          tutel(),
          tutel_improved(),
          pipemoe(),
          lina(),
          fsmoe_no_iio(),
          fsmoe(),
          parm_baseline(),
          parm_s1(),
          parm_s2(),
          sp_moe()};
}

}  // namespace

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names{"deepspeed_moe",
                                              "tutel",
                                              "tutel_improved",
                                              "pipemoe",
                                              "lina",
                                              "fsmoe_no_iio",
                                              "fsmoe",
                                              "parm_baseline",
                                              "parm_s1",
                                              "parm_s2",
                                              kParm,
                                              "sp_moe"};
  return names;
}

const ScheduleDefinition& find_definition(const std::string& name) {
  static const std::vector<ScheduleDefinition> definitions = all_definitions();
  for (const ScheduleDefinition& definition : definitions) {
    if (definition.name == name) {
      return definition;
    }
  }
  throw Error(
      fmt::format("no schedule '{}'; choose one of {}", name, fmt::join(schedule_names(), ", ")));
}

Degrees Degrees::uniform(int layers, int forward, int backward) {
  CHECK(layers > 0 && forward > 0 && backward > 0);
  const auto count = static_cast<size_t>(layers);
  return {std::vector<int>(count, forward), std::vector<int>(count, backward), 1};
}

Program build_schedule(const std::string& schedule,
                       const Scenario& scenario,
                       const Degrees& degrees,
                       const Evaluator& evaluator) {
  if (schedule == kParm) {
    const ParmChoice choice = choose_parm(scenario, Policy::kSearch, evaluator);
    return find_definition(choice.variant).build(scenario, degrees, evaluator);
  }
  return find_definition(schedule).build(scenario, degrees, evaluator);
}

std::optional<Program> build_with_serial_gradient(const std::string& schedule,
                                                  const Scenario& scenario,
                                                  const Degrees& degrees,
                                                  const Evaluator& evaluator) {
  if (schedule == kParm || !find_definition(schedule).build_serial) {
    return std::nullopt;
  }
  return find_definition(schedule).build_serial(scenario, degrees, evaluator);
}

}  // namespace moesim
