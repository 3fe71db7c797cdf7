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

// Degrees that searches try: 1 .. kMaxDegree.
inline constexpr int kMaxDegree = 8;

// Of those that searches try, as many as are simulated with all micro-batches, where there are
// several: the best for one alone.
inline constexpr int kFinalists = 3;

enum class Policy { kSearch, kPaper };

// Pipeline degrees of one Program, one entry per layer. sp_moe also has the degree of its non-MoE
// part; elsewhere that is 1.
struct Degrees {
  std::vector<int> forward;
  std::vector<int> backward;
  int non_moe = 1;

  static Degrees uniform(int layers, int forward, int backward, int non_moe = 1);

  friend bool operator==(const Degrees&, const Degrees&) = default;
};

// When a Program's passes ended, all relative to the iteration's start.
struct Evaluation {
  Time forward;   // end of the last forward task
  Time backward;  // end of the last backward task
  Time total;
};

// What schedules may ask of the layers above them: the simulated times of a Program, the
// uncontended time of each of its tasks, and whether its memory fits the GPUs.
struct Evaluator {
  std::function<Evaluation(const Program&)> evaluate;
  std::function<std::vector<Time>(const Program&)> durations;
  std::function<bool(const Program&)> fits;
};

// A candidate that the choice of degrees looked at, with the degrees that it is built with.
struct Candidate {
  Degrees degrees;
  std::string variant;  // parm: "parm_s1" or "parm_s2"; else empty
  Time time;
};

// A schedule's answer: the Program, the degrees it was built with, how they were chosen, and the
// best candidate that was not taken.
struct Plan {
  Program program;
  Degrees degrees;
  std::string policy;  // "given", "search", "paper", or "none" without chunks
  std::string variant;
  std::optional<Candidate> runner_up;
};

// The names of all schedules, in the order in which reports list them.
const std::vector<std::string>& schedule_names();

// Builds the schedule's Program with the given degrees, whatever the scenario's. Degrees that the
// schedule cannot use throw Error; schedules without chunks take no notice of them. `evaluator` is
// asked for `durations` by schedules that partition gradients, and to `evaluate` by parm.
Program build_schedule(const std::string& schedule,
                       const Scenario& scenario,
                       const Degrees& degrees,
                       const Evaluator& evaluator);

// The same with the dense gradient reduced serially, each layer's right after its attention
// backward: tells what its placement is worth. Nothing for schedules that do so anyway.
std::optional<Program> build_with_serial_gradient(const std::string& schedule,
                                                  const Scenario& scenario,
                                                  const Degrees& degrees,
                                                  const Evaluator& evaluator);

// Throws the Error that plan_schedule would, where the schedule cannot run the scenario or cannot
// use the degrees that it gives. Needs no costs and simulates nothing.
void require_plannable(const std::string& schedule, const Scenario& scenario);

// Chooses the degrees that the scenario leaves open and builds. Policy `search` simulates degrees
// 1..8 and takes the fastest that fits the memory (the fastest of all where none does); `paper`
// uses the closed forms and rules of the schedule's authors where they exist, else searches.
Plan plan_schedule(const std::string& schedule,
                   const Scenario& scenario,
                   Policy policy,
                   const Evaluator& evaluator);

}  // namespace moesim
