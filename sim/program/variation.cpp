#include "sim/program/variation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include <fmt/core.h>

#include "sim/base/hash.h"
#include "sim/base/random.h"

namespace moesim {
namespace {

// Of (0, 1]: its logarithm is finite.
double positive_uniform(Random& random) {
  return 1 - random.uniform();
}

double standard_normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(positive_uniform(random)));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

std::string speed_assumption(const std::vector<double>& speeds) {
  std::vector<double> others;
  std::ranges::copy_if(speeds, std::back_inserter(others), [](double speed) { return speed != 1; });
  const auto [slowest, fastest] = std::ranges::minmax(others);
  return fmt::format(
      "speeds: {} of {} GPUs compute at {}{:g} times the speed that the profile has, in all "
      "operations",
      others.size(),
      speeds.size(),
      slowest == fastest ? "" : fmt::format("{:g} to ", slowest),
      fastest);
}

}  // namespace

double jitter_factor(const Jitter& jitter, const std::string& task, int rank) {
  const std::uint64_t of_task = Random(jitter.seed, Hash().add(task).value()).next();
  Random random(of_task, static_cast<std::uint64_t>(rank));
  const double deviation = jitter.relative_deviation;
  if (jitter.distribution == JitterDistribution::kShiftedExponential) {
    return 1 - deviation - deviation * std::log(positive_uniform(random));
  }
  const double variance = std::log1p(deviation * deviation);
  return std::exp(std::sqrt(variance) * standard_normal(random) - variance / 2);
}

double mean_slowdown(const Program& program, const Task& task, int rank) {
  return program.rank_speed.empty() || !computes(task.descriptor) ? 1
                                                                  : 1 / program.rank_speed[rank];
}

double slowdown(const Program& program, const Task& task, int rank) {
  const double mean = mean_slowdown(program, task, rank);
  return program.jitter && computes(task.descriptor)
             ? mean * jitter_factor(*program.jitter, task.name, rank)
             : mean;
}

bool varies(const Program& program) {
  return program.jitter ||
         std::ranges::any_of(program.rank_speed, [](double speed) { return speed != 1; });
}

std::vector<std::string> variation_assumptions(const Program& program) {
  std::vector<std::string> texts;
  if (std::ranges::any_of(program.rank_speed, [](double speed) { return speed != 1; })) {
    texts.push_back(speed_assumption(program.rank_speed));
  }
  if (program.jitter) {
    texts.push_back(fmt::format(
        "jitter: each operation on each rank takes a {} factor of mean 1 and deviation {:g}, seed "
        "{}; no two ranks are alike, so that none stands for others",
        to_string(program.jitter->distribution),
        program.jitter->relative_deviation,
        program.jitter->seed));
  }
  return texts;
}

}  // namespace moesim
