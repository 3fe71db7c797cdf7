#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/schedule/registry.h"

namespace moesim {
namespace {

std::vector<int> range(std::optional<int> given) {
  std::vector<int> degrees;
  for (int degree = 1; degree <= kMaxDegree; ++degree) {
    degrees.push_back(degree);
  }
  return given ? std::vector<int>{*given} : degrees;
}

// Per-layer degrees count as given.
bool is_given(const std::optional<int>& degree, const std::vector<int>& per_layer) {
  return degree.has_value() || !per_layer.empty();
}

// Puts what the scenario gives over what was chosen.
Degrees with_given(Degrees degrees, const DegreeConfig& given) {
  if (given.forward) {
    std::fill(degrees.forward.begin(), degrees.forward.end(), *given.forward);
  }
  if (given.backward) {
    std::fill(degrees.backward.begin(), degrees.backward.end(), *given.backward);
  }
  if (!given.forward_per_layer.empty()) {
    degrees.forward = given.forward_per_layer;
  }
  if (!given.backward_per_layer.empty()) {
    degrees.backward = given.backward_per_layer;
  }
  degrees.non_moe = given.non_moe.value_or(degrees.non_moe);
  return degrees;
}

// A shared degree that is given for one pass holds for the other.
DegreeConfig shared(const ScheduleDefinition& definition, const Scenario& scenario) {
  DegreeConfig given = scenario.degrees;
  if (!is_given(given.backward, given.backward_per_layer)) {
    given.backward = given.forward;
    given.backward_per_layer = given.forward_per_layer;
  } else if (!is_given(given.forward, given.forward_per_layer)) {
    given.forward = given.backward;
    given.forward_per_layer = given.backward_per_layer;
  }
  const Degrees one = Degrees::uniform(scenario.model.layers, 1, 1);
  const Degrees result = with_given(one, given);
  if (result.forward != result.backward) {
    throw Error(scenario.path,
                fmt::format("{} has one degree for both passes; give the same degree forward and "
                            "backward",
                            definition.name));
  }
  return given;
}

class Search {
 public:
  Search(const ScheduleDefinition& definition,
         const Scenario& scenario,
         DegreeConfig given,
         const Evaluator& evaluator)
      : definition_(&definition),
        scenario_(&scenario),
        given_(std::move(given)),
        evaluator_(&evaluator) {}

  Plan run() {
    switch (definition_->choice) {
      case DegreeChoice::kShared:
        search_shared();
        break;
      case DegreeChoice::kSeparate:
        search_separate();
        break;
      default:
        search_sequence();
    }
    return take_best();
  }

 private:
  Degrees degrees(int forward, int backward) const {
    return with_given(Degrees::uniform(scenario_->model.layers, forward, backward), given_);
  }

  Program build(const Degrees& degrees) const {
    return definition_->build(*scenario_, degrees, *evaluator_);
  }

  void add(const Degrees& degrees) {
    candidates_.push_back({degrees, "", evaluator_->evaluate(build(degrees)).total});
  }

  void search_shared() {
    for (const int degree : range(given_.forward)) {
      add(degrees(degree, degree));
    }
  }

  // The passes follow each other, so each degree is simulated once for both.
  void search_separate() {
    struct Passes {
      int degree;
      Time forward;
      Time backward;
      Time update;
    };
    std::vector<Passes> measured;
    for (const int degree : range({})) {
      const Evaluation evaluation = evaluator_->evaluate(build(degrees(degree, degree)));
      measured.push_back({degree,
                          evaluation.forward,
                          evaluation.backward - evaluation.forward,
                          evaluation.total - evaluation.backward});
    }
    const bool forward_open = !is_given(given_.forward, given_.forward_per_layer);
    const bool backward_open = !is_given(given_.backward, given_.backward_per_layer);
    for (const Passes& forward : measured) {
      for (const Passes& backward : measured) {
        const bool wanted = (forward_open || &forward == &measured.front()) &&
                            (backward_open || &backward == &measured.front());
        if (wanted) {
          candidates_.push_back({degrees(forward.degree, backward.degree),
                                 "",
                                 forward.forward + backward.backward + backward.update});
        }
      }
    }
    if (backward_open && definition_->refine) {
      sort_candidates();
      add(definition_->refine(*scenario_, candidates_.front().degrees, *evaluator_));
    }
  }

  void search_sequence() {
    const bool causal = scenario_->model.attention == AttentionMask::kCausal;
    for (const int moe : range(given_.forward)) {
      for (const int non_moe : range(given_.non_moe ? given_.non_moe : std::optional<int>())) {
        const bool divides = moe % non_moe == 0 || non_moe % moe == 0;
        const bool possible = divides && (causal || non_moe == 1);
        if (possible || given_.non_moe) {
          Degrees pair = degrees(moe, moe);
          pair.non_moe = non_moe;
          add(pair);
        }
      }
    }
  }

  // Fastest first; of equal ones the smallest degrees.
  void sort_candidates() {
    std::stable_sort(
        candidates_.begin(), candidates_.end(), [](const Candidate& left, const Candidate& right) {
          return left.time < right.time;
        });
  }

  Plan take_best() {
    sort_candidates();
    for (size_t i = 0; i < candidates_.size(); ++i) {
      Program program = build(candidates_[i].degrees);
      if (evaluator_->fits(program)) {
        return plan(i, std::move(program));
      }
    }
    return plan(0, build(candidates_.front().degrees));
  }

  Plan plan(size_t taken, Program program) const {
    Plan plan{std::move(program), candidates_[taken].degrees, "search", "", {}};
    for (size_t i = 0; i < candidates_.size() && !plan.runner_up; ++i) {
      const Degrees& other = candidates_[i].degrees;
      const bool same = std::tie(other.forward, other.backward, other.non_moe) ==
                        std::tie(plan.degrees.forward, plan.degrees.backward, plan.degrees.non_moe);
      if (!same) {
        plan.runner_up = candidates_[i];
      }
    }
    return plan;
  }

  const ScheduleDefinition* definition_;
  const Scenario* scenario_;
  DegreeConfig given_;
  const Evaluator* evaluator_;
  std::vector<Candidate> candidates_;
};

Plan plan_parm(const Scenario& scenario, Policy policy, const Evaluator& evaluator) {
  const ParmChoice choice = choose_parm(scenario, policy, evaluator);
  const Degrees degrees = Degrees::uniform(scenario.model.layers, 1, 1);
  Plan plan{find_definition(choice.variant).build(scenario, degrees, evaluator),
            degrees,
            policy == Policy::kPaper ? "paper" : "search",
            choice.variant,
            Candidate{degrees, choice.other, choice.other_time}};
  return plan;
}

bool all_given(DegreeChoice choice, const DegreeConfig& given) {
  const bool passes = is_given(given.forward, given.forward_per_layer) &&
                      is_given(given.backward, given.backward_per_layer);
  return passes && (choice != DegreeChoice::kSequence || given.non_moe);
}

}  // namespace

Plan plan_schedule(const std::string& schedule,
                   const Scenario& scenario,
                   Policy policy,
                   const Evaluator& evaluator) {
  if (schedule == "parm") {
    return plan_parm(scenario, policy, evaluator);
  }
  const ScheduleDefinition& definition = find_definition(schedule);
  Degrees degrees = Degrees::uniform(scenario.model.layers, 1, 1);
  if (definition.choice == DegreeChoice::kFixed) {
    return {definition.build(scenario, degrees, evaluator), degrees, "none", "", {}};
  }
  const bool separate = definition.choice == DegreeChoice::kSeparate;
  const DegreeConfig given = separate ? scenario.degrees : shared(definition, scenario);
  std::string chosen_by = "given";
  if (!all_given(definition.choice, given)) {
    if (policy == Policy::kSearch || !definition.paper) {
      return Search(definition, scenario, given, evaluator).run();
    }
    degrees = definition.paper(scenario, evaluator);
    chosen_by = "paper";
  }
  degrees = with_given(degrees, given);
  if (definition.choice != DegreeChoice::kSequence) {
    degrees.non_moe = 1;
  }
  return {definition.build(scenario, degrees, evaluator), degrees, chosen_by, "", {}};
}

}  // namespace moesim
