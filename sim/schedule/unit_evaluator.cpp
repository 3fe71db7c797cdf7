#include "sim/schedule/unit_evaluator.h"

namespace moesim {

Evaluator unit_evaluator() {
  Evaluator evaluator;
  evaluator.durations = [](const Program& program) {
    return std::vector<Time>(program.tasks.size(), Time::from_picoseconds(1'000'000));
  };
  evaluator.evaluate = [](const Program& program) {
    const auto tasks = static_cast<int64_t>(program.tasks.size());
    const Time total = Time::from_picoseconds(tasks);
    return Evaluation{total, total, total};
  };
  evaluator.fits = [](const Program&) { return true; };
  return evaluator;
}

}  // namespace moesim
