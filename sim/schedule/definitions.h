#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/schedule/schedule.h"

namespace moesim {

// Which degrees a schedule has.
enum class DegreeChoice {
  kFixed,     // no chunks
  kShared,    // one degree for both passes
  kSeparate,  // forward and backward
  kSequence,  // sp_moe: one MoE degree and one non-MoE degree
};

// What one schedule decides. `paper` holds its authors' choice of degrees, where they published
// one; `refine` a further candidate for the search, given the forward degrees found; `build_serial`
// the same Program with its dense gradient reduced serially, where `build` places it otherwise.
struct ScheduleDefinition {
  using Build = std::function<Program(const Scenario&, const Degrees&, const Evaluator&)>;
  using Choose = std::function<Degrees(const Scenario&, const Evaluator&)>;
  using Refine = std::function<Degrees(const Scenario&, const Degrees&, const Evaluator&)>;

  std::string name;
  DegreeChoice choice = DegreeChoice::kFixed;
  Build build;
  Build build_serial;
  Choose paper;
  Refine refine;
};

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
ScheduleDefinition sp_moe();

// Why sp_moe cannot use these degrees; nothing when it can.
std::optional<Error> sp_moe_problem(const Scenario& scenario, const Degrees& degrees);

// Parm's rule: evaluate S1 and S2 and take the smaller; `paper` by the closed forms.
struct ParmChoice {
  std::string variant;
  std::string other;
  Time time;
  Time other_time;
};
ParmChoice choose_parm(const Scenario& scenario, Policy policy, const Evaluator& evaluator);

}  // namespace moesim
