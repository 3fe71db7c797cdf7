#include "sim/schedule/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

// In the order in which reports list them.
std::vector<ScheduleDefinition> make_definitions() {
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
          parm(),
          sp_moe()};
}

const std::vector<ScheduleDefinition>& all_definitions() {
  static const std::vector<ScheduleDefinition> definitions = make_definitions();
  return definitions;
}

std::vector<std::string> make_names() {
  std::vector<std::string> names;
  for (const ScheduleDefinition& definition : all_definitions()) {
    names.push_back(definition.name);
  }
  return names;
}

}  // namespace

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = make_names();
  return names;
}

const ScheduleDefinition& find_definition(const std::string& name) {
  for (const ScheduleDefinition& definition : all_definitions()) {
    if (definition.name == name) {
      return definition;
    }
  }
  throw Error(
      fmt::format("no schedule '{}'; choose one of {}", name, fmt::join(schedule_names(), ", ")));
}

Program build_schedule(const std::string& schedule,
                       const Scenario& scenario,
                       const Degrees& degrees,
                       const Evaluator& evaluator) {
  return find_definition(schedule).build(RoutedScenario(scenario), degrees, evaluator);
}

std::optional<Program> build_with_serial_gradient(const std::string& schedule,
                                                  const Scenario& scenario,
                                                  const Degrees& degrees,
                                                  const Evaluator& evaluator) {
  const ScheduleDefinition& definition = find_definition(schedule);
  if (!definition.build_serial) {
    return std::nullopt;
  }
  return definition.build_serial(RoutedScenario(scenario), degrees, evaluator);
}

}  // namespace moesim
