#include "sim/schedule/degree_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/base/error.h"

namespace moesim {
namespace {

std::vector<int> range(const std::optional<int>& given) {
  std::vector<int> degrees;
  for (int degree = 1; degree <= kMaxDegree; ++degree) {
    degrees.push_back(degree);
  }
  return given ? std::vector<int>{*given} : degrees;
}

bool same_degrees(const Degrees& left, const Degrees& right) {
  return std::tie(left.forward, left.backward, left.non_moe) ==
         std::tie(right.forward, right.backward, right.non_moe);
}

class Search {
 public:
  Search(const ScheduleDefinition& definition,
         const Scenario& scenario,
         const DegreeConfig& given,
         const Evaluator& evaluator)
      : definition_(&definition), scenario_(&scenario), given_(given), evaluator_(&evaluator) {}

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
  // When the passes of a Program with both degrees equal took place.
  struct Passes {
    int degree = 1;
    Time forward;
    Time backward;
    Time update;
  };

  bool forward_open() const { return !is_given(given_.forward, given_.forward_per_layer); }
  bool backward_open() const { return !is_given(given_.backward, given_.backward_per_layer); }

  Degrees degrees(int forward, int backward) const {
    return with_given(Degrees::uniform(scenario_->model.layers, forward, backward), given_);
  }

  Program build(const Degrees& degrees) const {
    return definition_->build(*scenario_, degrees, *evaluator_);
  }

  Time simulate(const Degrees& degrees) const { return evaluator_->evaluate(build(degrees)).total; }

  void add(const Degrees& degrees) { candidates_.push_back({degrees, "", simulate(degrees)}); }

  void search_shared() {
    for (const int degree : range(given_.forward)) {
      add(degrees(degree, degree));
    }
  }

  void search_separate() {
    if (scenario_->model.pad_capacity) {
      search_pairs();  // the padding depends on both degrees
    } else {
      combine(measure_passes());
    }
    if (backward_open() && definition_->refine) {
      sort_candidates();
      add(definition_->refine(*scenario_, candidates_.front().degrees, *evaluator_));
    }
  }

  void search_pairs() {
    for (const int forward : forward_open() ? range({}) : std::vector<int>{1}) {
      for (const int backward : backward_open() ? range({}) : std::vector<int>{1}) {
        add(degrees(forward, backward));
      }
    }
  }

  std::vector<Passes> measure_passes() const {
    std::vector<Passes> measured;
    for (const int degree : range({})) {
      const Evaluation evaluation = evaluator_->evaluate(build(degrees(degree, degree)));
      measured.push_back({degree,
                          evaluation.forward,
                          evaluation.backward - evaluation.forward,
                          evaluation.total - evaluation.backward});
    }
    return measured;
  }

  // The passes follow each other, so a pair's time is the sum of its passes'. What overlaps at the
  // seam (launches that run ahead) is left to take_best, which simulates the first ones as pairs.
  void combine(const std::vector<Passes>& measured) {
    for (const Passes& forward : measured) {
      for (const Passes& backward : measured) {
        const bool wanted = (forward_open() || &forward == &measured.front()) &&
                            (backward_open() || &backward == &measured.front());
        if (wanted) {
          candidates_.push_back({degrees(forward.degree, backward.degree),
                                 "",
                                 forward.forward + backward.backward + backward.update});
        }
      }
    }
    sort_candidates();
    constexpr size_t kSimulated = 2;
    for (size_t i = 0; i < std::min(kSimulated, candidates_.size()); ++i) {
      Candidate& candidate = candidates_[i];
      if (candidate.degrees.forward != candidate.degrees.backward) {
        candidate.time = simulate(candidate.degrees);
      }
    }
  }

  void search_sequence() {
    std::optional<Error> problem;
    for (const int moe : range(given_.forward)) {
      for (const int non_moe : range(given_.non_moe)) {
        Degrees pair = degrees(moe, moe);
        pair.non_moe = non_moe;
        const std::optional<Error> found = sp_moe_problem(*scenario_, pair);
        if (found) {
          problem = found;
        } else {
          add(pair);
        }
      }
    }
    if (candidates_.empty()) {
      throw Error(*problem);
    }
  }

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

  // The runner-up is the next slower one: faster ones that were passed over do not fit.
  Plan plan(size_t taken, Program program) const {
    Plan plan{std::move(program), candidates_[taken].degrees, "search", "", {}};
    plan.degrees = built_degrees(plan.program, plan.degrees);
    for (size_t i = taken + 1; i < candidates_.size() && !plan.runner_up; ++i) {
      const bool same_chunks =
          candidates_[i].time == candidates_[taken].time &&
          same_degrees(built_degrees(build(candidates_[i].degrees), candidates_[i].degrees),
                       plan.degrees);
      if (!same_chunks) {
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

}  // namespace

bool is_given(const std::optional<int>& degree, const std::vector<int>& per_layer) {
  return degree.has_value() || !per_layer.empty();
}

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

Degrees built_degrees(const Program& program, Degrees degrees) {
  std::fill(degrees.forward.begin(), degrees.forward.end(), 0);
  std::fill(degrees.backward.begin(), degrees.backward.end(), 0);
  for (const Task& task : program.tasks) {
    if (task.kind == "expert" && task.pass == Pass::kForward) {
      ++degrees.forward.at(static_cast<size_t>(task.layer));
    } else if (task.kind == "expert" && task.pass == Pass::kBackward) {
      ++degrees.backward.at(static_cast<size_t>(task.layer));
    }
  }
  return degrees;
}

Plan search_degrees(const ScheduleDefinition& definition,
                    const Scenario& scenario,
                    const DegreeConfig& given,
                    const Evaluator& evaluator) {
  return Search(definition, scenario, given, evaluator).run();
}

}  // namespace moesim
