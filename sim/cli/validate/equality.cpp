#include "kernels/reference/equality.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/sections.h"
#include "sim/schedule/unit_evaluator.h"

namespace moesim::validation {
namespace {

// What a case came to. A choice is a token's for one of its top_k experts; it is dropped where that
// expert has no slot left.
struct Outcome {
  bool equal = false;
  std::int64_t num_choices = 0;
  std::int64_t num_dropped = 0;
};

using Cases = std::vector<EqualityCase>;

Cases all_cases(const EqualityStudy& study) {
  Cases cases;
  for (const std::string& schedule : study.schedules) {
    Cases added = equality_cases(schedule);
    cases.insert(
        cases.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  }
  return cases;
}

ComparedRun run_case(const EqualityStudy& study, const EqualityCase& one) {
  const Program program = study.build(one.schedule, one.scenario, one.degrees, unit_evaluator());
  return run_beside_reference(program, program, one.scenario, Rounding::kExact);
}

// Ranks whose replicas contradict each other throw Error: a difference too.
std::string difference(const EqualityStudy& study, const EqualityCase& one) {
  try {
    const ComparedRun run = run_case(study, one);
    return first_difference(run.actual, run.expected, 0);
  } catch (const Error& error) {
    return error.what();
  }
}

std::int64_t count_assigned(const ReferenceResults& results) {
  std::int64_t count = 0;
  for (const std::vector<Assignment>& layer : results.assignments) {
    count += static_cast<std::int64_t>(layer.size());
  }
  return count;
}

Outcome study_case(const EqualityStudy& study, const EqualityCase& one) {
  try {
    const ComparedRun run = run_case(study, one);
    const ModelConfig& model = one.scenario.model;
    Outcome outcome;
    outcome.equal = first_difference(run.actual, run.expected, 0).empty();
    outcome.num_choices = std::int64_t{model.layers} * run.actual.output.rows * model.top_k;
    outcome.num_dropped = outcome.num_choices - count_assigned(run.actual);
    return outcome;
  } catch (const Error&) {
    return {};
  }
}

// "2", "2/3" where the passes differ, "4 (2)" where the non-MoE part does.
std::string degrees_text(const Degrees& degrees) {
  const int forward = degrees.forward.front();
  const int backward = degrees.backward.front();
  std::string text =
      forward == backward ? fmt::to_string(forward) : fmt::format("{}/{}", forward, backward);
  return degrees.non_moe == 1 ? text : text + fmt::format(" ({})", degrees.non_moe);
}

// One schedule's cases, added up.
struct Sum {
  std::vector<std::string> degrees;
  std::array<int, 2> programs{};  // on 4 and on 8 ranks
  int equal = 0;
  std::int64_t choices = 0;  // where experts have less capacity than choices
  std::int64_t dropped = 0;

  void add(const EqualityCase& one, const Outcome& outcome) {
    const std::string text = degrees_text(one.degrees);
    if (std::find(degrees.begin(), degrees.end(), text) == degrees.end()) {
      degrees.push_back(text);
    }
    ++programs[one.scenario.parallel.world() == 4 ? 0 : 1];
    equal += outcome.equal ? 1 : 0;
    dropped += outcome.num_dropped;
    choices += one.load == Load::kDrops ? outcome.num_choices : 0;
  }
};

std::vector<std::string> row(const std::string& schedule, const Sum& sum, std::string verdict) {
  const double share = static_cast<double>(sum.dropped) /
                       static_cast<double>(std::max<std::int64_t>(sum.choices, 1));
  return {'`' + schedule + '`',
          fmt::format("{}", fmt::join(sum.degrees, ", ")),
          fmt::to_string(sum.programs[0]),
          fmt::to_string(sum.programs[1]),
          fmt::to_string(sum.equal),
          fmt::format("{} ({:.0f} %)", sum.dropped, 100 * share),
          std::move(verdict)};
}

void add_table(const EqualityStudy& study,
               const Cases& cases,
               const std::vector<Outcome>& outcomes,
               SectionWriter& writer) {
  Table table({"Schedule",
               "degrees",
               "Programs on 4 ranks",
               "on 8 ranks",
               "equal",
               "dropped (of the choices under drops)",
               "standing"});
  for (const std::string& schedule : study.schedules) {
    Sum sum;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].schedule == schedule) {
        sum.add(cases[i], outcomes[i]);
      }
    }
    const bool all_equal = sum.equal == sum.programs[0] + sum.programs[1];
    table.add(row(schedule, sum, writer.verdict(all_equal)));
  }
  writer.add(table);
}

// What is wrong with the first case that differs, if one does.
void add_difference(const EqualityStudy& study,
                    const Cases& cases,
                    const std::vector<Outcome>& outcomes,
                    SectionWriter& writer) {
  const auto miss = std::find_if(
      outcomes.begin(), outcomes.end(), [](const Outcome& outcome) { return !outcome.equal; });
  if (miss == outcomes.end()) {
    return;
  }
  const EqualityCase& one = cases[static_cast<std::size_t>(miss - outcomes.begin())];
  writer.say(fmt::format("The first that differs: {}, {}, {}: {}.",
                         one.schedule,
                         to_string(one.load),
                         describe(one.scenario, one.degrees),
                         difference(study, one)));
}

}  // namespace

Finding study_equality(const EqualityStudy& study) {
  const Cases cases = all_cases(study);
  const std::vector<Outcome> outcomes = records_in_workers<Outcome>(
      {"Programs", static_cast<int>(cases.size()), study.num_workers},
      [&](int index) { return study_case(study, cases[static_cast<std::size_t>(index)]); });
  SectionWriter writer;
  writer.say(
      "What a schedule's Program computes against the same model on one process, without "
      "partitions, "
      "chunks or recomputation (`kernels/reference`, which takes the schedule's capacity domains "
      "and shares with it the arithmetic of single rows and the matrix product): outputs, input "
      "gradients and weight gradients in every bit, and which expert has which token. Two layers "
      "of 2·24 tokens for each MP group, integer-valued data, rounded so that every sum is exact "
      "whatever its order, on up to four layouts of 4 and five of 8 ranks (MP and ESP equal and "
      "not, EDP 1 and 2; `parm_baseline` needs MP = ESP), and four layers on 2 and 4 stages with 2 "
      "to "
      "4 micro-batches of 2·8 tokens under both orders, each balanced, skewed (Zipf, exponent 1) "
      "and by the gate's scores with 0.75 of the capacity (drops).");
  writer.say(
      "Degrees: for both passes, forward/backward, or MoE (non-MoE part); chunks of degrees 3 and "
      "8 "
      "are uneven. Tasks run here one after the other in launch order; that threads, with random "
      "delays, leave the same bytes is tested (`tests/property/host_test.cpp`), and that without "
      "any one of a schedule's waits they do not (`tests/property/removed_wait_test.cpp`), as are "
      "random models and, within 1e-5, real numbers (`tests/property/equality_test.cpp`).");
  add_table(study, cases, outcomes, writer);
  add_difference(study, cases, outcomes, writer);
  return std::move(writer).finish();
}

}  // namespace moesim::validation
