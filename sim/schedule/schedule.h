#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"
#include "sim/io/scenario.h"

namespace moesim {

enum class Policy { kSearch, kPaper };

// Pipeline degrees of one Program, one entry per layer. sp_moe also has the degree of its non-MoE
// part; elsewhere that is 1.
struct Degrees {
  std::vector<int> forward;
  std::vector<int> backward;
  int non_moe = 1;

  static Degrees uniform(int layers, int forward, int backward);
};

// When a Program's passes ended, and whether its memory fits.
struct Evaluation {
  Time forward;   // end of the forward pass
  Time backward;  // end of the last backward task
  Time total;
  bool fits = true;
};

// What schedules may ask of the layers above them: the simulated cost of a Program, and the
// uncontended time of each of its tasks.
struct Evaluator {
  std::function<Evaluation(const Program&)> evaluate;
  std::function<std::vector<Time>(const Program&)> durations;
};

// A candidate that the choice of degrees looked at.
struct Candidate {
  Degrees degrees;
  std::string variant;  // parm: "parm_s1" or "parm_s2"; else empty
  Time time;
  bool fits = true;
};

// A schedule's answer: the Program, the degrees it was built with, how they were chosen, and the
// best candidate that was not taken.
struct Plan {
  Program program;
  Degrees degrees;
  std::string policy;  // "given", "search" or "paper"
  std::string variant;
  std::optional<Candidate> runner_up;
};

// The names of all schedules, in the order in which reports list them.
const std::vector<std::string>& schedule_names();

// Builds the schedule's Program with the given degrees. Degrees that the schedule cannot use throw
// Error. `durations` is asked only by schedules that partition gradients.
Program build_schedule(const std::string& schedule, const Scenario& scenario,
                       const Degrees& degrees, const Evaluator& evaluator);

// Chooses the degrees that the scenario leaves open (policy `search`: simulate 1..8, take the best
// that fits; `paper`: the closed forms and rules of its authors, else search) and builds.
Plan plan_schedule(const std::string& schedule, const Scenario& scenario, Policy policy,
                   const Evaluator& evaluator);

}  // namespace moesim
