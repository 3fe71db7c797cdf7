#include "sim/schedule/degree_search.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/base/error.h"
#include "sim/schedule/degrees.h"

namespace moesim {
namespace {

std::vector<int> range(const std::optional<int>& given) {
  std::vector<int> degrees;
  for (int degree = 1; degree <= kMaxDegree; ++degree) {
    degrees.push_back(degree);
  }
  return given ? std::vector<int>{*given} : degrees;
}

class Search {
 public:
  Search(const ScheduleDefinition& definition,
         const RoutedScenario& scenario,
         const DegreeConfig& given,
         const Evaluator& evaluator)
      : definition_(&definition),
        whole_(&scenario),
        one_micro_batch_(scenario.one_micro_batch()),
        scenario_(&one_micro_batch_),
        given_(given),
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
  // Known by the degrees that its Program is built with: where buffers have few rows, several that
  // were asked for build the same Program, which is looked at once.
  struct Attempt {
    Degrees degrees;
    Time time;
    bool simulated = false;  // or estimated from its passes
    bool of_whole = false;   // the time is that of all micro-batches
  };

  // When the passes of a Program took place.
  struct Passes {
    Degrees degrees;
    Time forward;
    Time backward;
    Time update;

    Time total() const { return forward + backward + update; }
  };

  struct Built {
    Degrees degrees;
    Program program;
  };

  bool forward_open() const { return !is_given(given_.forward, given_.forward_per_layer); }
  bool backward_open() const { return !is_given(given_.backward, given_.backward_per_layer); }

  Degrees degrees(int forward, int backward) const {
    return with_given(Degrees::uniform(scenario_->model.layers, forward, backward), given_);
  }

  Built build(const Degrees& degrees) const {
    Program program = definition_->build(*scenario_, degrees, *evaluator_);
    Degrees built = built_degrees(program, degrees);
    return {std::move(built), std::move(program)};
  }

  Attempt* find(const Degrees& degrees) {
    const auto found =
        std::find_if(attempts_.begin(), attempts_.end(), [&degrees](const Attempt& attempt) {
          return attempt.degrees == degrees;
        });
    return found == attempts_.end() ? nullptr : &*found;
  }

  // Keeps the Program while it is the fastest, which is the one that will be wanted.
  Evaluation simulate(Built built) {
    const Evaluation evaluation = evaluator_->evaluate(built.program);
    if (!kept_ || evaluation.total < kept_time_) {
      kept_time_ = evaluation.total;
      kept_ = std::move(built);
    }
    return evaluation;
  }

  void add(const Degrees& degrees) {
    Built built = build(degrees);
    Attempt attempt{built.degrees, {}, true};
    Attempt* known = find(built.degrees);
    if (known != nullptr && known->simulated) {
      return;
    }
    attempt.time = simulate(std::move(built)).total;
    if (known != nullptr) {
      *known = std::move(attempt);
    } else {
      attempts_.push_back(std::move(attempt));
    }
  }

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
      simulate_first();
    }
    if (backward_open() && definition_->refine) {
      sort_attempts();
      add(definition_->refine(*scenario_, attempts_.front().degrees, *evaluator_));
    }
  }

  void search_pairs() {
    for (const int forward : forward_open() ? range({}) : std::vector<int>{1}) {
      for (const int backward : backward_open() ? range({}) : std::vector<int>{1}) {
        add(degrees(forward, backward));
      }
    }
  }

  // Of Programs with both degrees equal, as far as they are open.
  std::vector<Passes> measure_passes() {
    std::vector<Passes> measured;
    for (const int degree : range({})) {
      Built built = build(degrees(degree, degree));
      const bool known = std::any_of(measured.begin(), measured.end(), [&](const Passes& passes) {
        return passes.degrees == built.degrees;
      });
      if (!known) {
        const Degrees found = built.degrees;
        const Evaluation evaluation = simulate(std::move(built));
        measured.push_back({found,
                            evaluation.forward,
                            evaluation.backward - evaluation.forward,
                            evaluation.total - evaluation.backward});
      }
    }
    return measured;
  }

  // The passes follow each other, so a pair's time is the sum of its passes', but for what overlaps
  // at the seam (launches that run ahead).
  void combine(const std::vector<Passes>& measured) {
    for (const Passes& forward : measured) {
      for (const Passes& backward : measured) {
        Degrees pair = forward.degrees;
        pair.backward = backward.degrees.backward;
        const auto whole = std::find_if(measured.begin(), measured.end(), [&](const Passes& one) {
          return one.degrees == pair;
        });
        if (find(pair) != nullptr) {
          continue;
        }
        if (whole != measured.end()) {
          attempts_.push_back({pair, whole->total(), true});
        } else {
          attempts_.push_back({pair, forward.forward + backward.backward + backward.update, false});
        }
      }
    }
  }

  // Until the two first were simulated as pairs: the choice and its runner-up.
  void simulate_first() {
    constexpr std::ptrdiff_t kSimulated = 2;
    for (;;) {
      sort_attempts();
      const auto end = attempts_.begin() + std::min(kSimulated, std::ssize(attempts_));
      const auto estimated = std::find_if(
          attempts_.begin(), end, [](const Attempt& attempt) { return !attempt.simulated; });
      if (estimated == end) {
        return;
      }
      estimated->time = simulate(build(estimated->degrees)).total;
      estimated->simulated = true;
    }
  }

  void search_sequence() {
    for (const Degrees& pair : sequence_degrees(*scenario_, given_)) {
      add(pair);
    }
  }

  void sort_attempts() {
    std::stable_sort(
        attempts_.begin(), attempts_.end(), [](const Attempt& left, const Attempt& right) {
          return left.time < right.time;
        });
  }

  const Program& program_of(const Attempt& attempt) {
    if (!kept_ || kept_->degrees != attempt.degrees) {
      kept_ = build(attempt.degrees);
    }
    return kept_->program;
  }

  // Those that one micro-batch alone finds best are put in the order of the whole.
  void simulate_finalists() {
    scenario_ = whole_;
    kept_.reset();
    const auto end =
        attempts_.begin() + std::min<std::ptrdiff_t>(kFinalists, std::ssize(attempts_));
    for (auto attempt = attempts_.begin(); attempt != end; ++attempt) {
      attempt->time = simulate(build(attempt->degrees)).total;
      attempt->of_whole = true;
    }
    std::stable_sort(attempts_.begin(), end, [](const Attempt& left, const Attempt& right) {
      return left.time < right.time;
    });
  }

  // The runner-up is the next slower one: faster ones that were passed over do not fit.
  Plan take_best() {
    sort_attempts();
    if (whole_->pipeline.micro_batches > 1) {
      simulate_finalists();
    }
    size_t taken = 0;
    while (taken < attempts_.size() && !evaluator_->fits(program_of(attempts_[taken]))) {
      ++taken;
    }
    taken = taken < attempts_.size() ? taken : 0;
    program_of(attempts_[taken]);
    Plan plan{std::move(kept_->program), attempts_[taken].degrees, "search", "", {}};
    if (taken + 1 < attempts_.size()) {
      plan.runner_up =
          Candidate{attempts_[taken + 1].degrees, "", time_of_whole(attempts_[taken + 1])};
    }
    return plan;
  }

  Time time_of_whole(const Attempt& attempt) const {
    return whole_->pipeline.micro_batches == 1 || attempt.of_whole
               ? attempt.time
               : evaluator_->evaluate(build(attempt.degrees).program).total;
  }

  const ScheduleDefinition* definition_;
  const RoutedScenario* whole_;
  RoutedScenario one_micro_batch_;
  const RoutedScenario* scenario_;  // that Programs are built of: one micro-batch, then the whole
  DegreeConfig given_;
  const Evaluator* evaluator_;
  std::vector<Attempt> attempts_;
  std::optional<Built> kept_;
  Time kept_time_;
};

}  // namespace

std::vector<Degrees> sequence_degrees(const Scenario& scenario, const DegreeConfig& given) {
  std::vector<Degrees> pairs;
  std::optional<Error> problem;
  for (const int moe : range(given.forward)) {
    for (const int non_moe : range(given.non_moe)) {
      const Degrees pair =
          with_given(Degrees::uniform(scenario.model.layers, moe, moe, non_moe), given);
      const std::optional<Error> found = sp_moe_problem(scenario, pair);
      if (found) {
        problem = found;
      } else {
        pairs.push_back(pair);
      }
    }
  }
  if (pairs.empty()) {
    throw Error(*problem);
  }
  return pairs;
}

Plan search_degrees(const ScheduleDefinition& definition,
                    const RoutedScenario& scenario,
                    const DegreeConfig& given,
                    const Evaluator& evaluator) {
  return Search(definition, scenario, given, evaluator).run();
}

}  // namespace moesim
