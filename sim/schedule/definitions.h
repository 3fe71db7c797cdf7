#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/base/error.h"
#include "sim/schedule/pipeline.h"
#include "sim/schedule/routed_scenario.h"
#include "sim/schedule/schedule.h"

namespace moesim {

// Which degrees a schedule has.
enum class DegreeChoice {
  kFixed,     // no chunks
  kShared,    // one degree for both passes
  kSeparate,  // forward and backward
  kSequence,  // sp_moe: one MoE degree and one non-MoE degree
};

// What one schedule decides.
struct ScheduleDefinition {
  using Build = std::function<Program(const RoutedScenario&, const Degrees&, const Evaluator&)>;
  using Choose = std::function<Degrees(const RoutedScenario&, const Evaluator&)>;
  using Refine = std::function<Degrees(const RoutedScenario&, const Degrees&, const Evaluator&)>;
  using MakePlan = std::function<Plan(const RoutedScenario&, Policy, const Evaluator&)>;

  std::string name;
  DegreeChoice choice = DegreeChoice::kFixed;
  Build build;
  Build
      build_serial;  // with the dense gradient reduced serially, where `build` places it otherwise
  Choose paper;      // its authors' choice of degrees, where they published one
  Refine refine;     // a further candidate for the search, given the forward degrees found
  MakePlan plan;     // of a schedule that chooses more than degrees
};

// Builds pipelined Programs whose gradients go where `gradient` puts them, whatever the times.
ScheduleDefinition::Build pipelined(const char* schedule,
                                    const PipelinePolicy& policy,
                                    GradientPlan (*gradient)(const Scenario&));

// PipeMoE's closed form, for schedules with one degree.
ScheduleDefinition::Choose pipemoe_choice(const PipelinePolicy& policy);

ScheduleDefinition deepspeed_moe();
ScheduleDefinition tutel();
ScheduleDefinition tutel_improved();
ScheduleDefinition pipemoe();
ScheduleDefinition lina();
ScheduleDefinition fsmoe_no_iio();
ScheduleDefinition fsmoe();
ScheduleDefinition parm_baseline();
ScheduleDefinition parm_s1();
ScheduleDefinition parm_s2();
ScheduleDefinition parm();
ScheduleDefinition sp_moe();

// Why sp_moe cannot use these degrees; nothing when it can.
std::optional<Error> sp_moe_problem(const Scenario& scenario, const Degrees& degrees);

}  // namespace moesim
