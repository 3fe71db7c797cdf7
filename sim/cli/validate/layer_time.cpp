#include "sim/cli/validate/layer_time.h"

#include <algorithm>
#include <utility>

#include "sim/engine/simulate.h"
#include "sim/schedule/registry.h"

namespace moesim::validation {
namespace {

constexpr int kFewLayers = 2;
constexpr int kManyLayers = 14;

Program with_fixed_kinds(Program program, const std::vector<FixedKind>& kinds) {
  for (Task& task : program.tasks) {
    for (const FixedKind& fixed : kinds) {
      if (task.kind == fixed.kind) {
        task.descriptor = Fixed{task.pass == Pass::kBackward ? fixed.backward : fixed.forward};
      }
    }
  }
  return program;
}

Time end_of(const Trace& trace, Pass pass) {
  return trace.pass_end[static_cast<std::size_t>(pass)];
}

// The degrees that all layers have.
struct SameDegrees {
  int moe = 1;
  int non_moe = 1;
};

struct PassTimes {
  Time forward;
  Time backward;
};

class AddedLayer {
 public:
  AddedLayer(const std::string& schedule, Scenario scenario, const Evaluator& evaluator)
      : schedule_(schedule), scenario_(std::move(scenario)), evaluator_(evaluator) {}

  PassTimes at(const SameDegrees& degrees) {
    const Evaluation few = evaluate(degrees, kFewLayers);
    const Evaluation more = evaluate(degrees, kFewLayers + 1);
    const Time forward = more.forward - few.forward;
    return {forward, more.total - few.total - forward};
  }

 private:
  Evaluation evaluate(const SameDegrees& same, int layers) {
    scenario_.model.layers = layers;
    Degrees degrees = Degrees::uniform(layers, same.moe, same.moe);
    degrees.non_moe = same.non_moe;
    return evaluator_.evaluate(build_schedule(schedule_, scenario_, degrees, evaluator_));
  }

  const std::string& schedule_;
  Scenario scenario_;
  const Evaluator& evaluator_;
};

std::vector<SameDegrees> candidates(DegreeChoice choice, const Scenario& scenario) {
  if (choice == DegreeChoice::kFixed) {
    return {{}};
  }
  const bool cuts_sequence =
      choice == DegreeChoice::kSequence && scenario.model.attention == AttentionMask::kCausal;
  std::vector<SameDegrees> degrees;
  for (int moe = 1; moe <= kMaxDegree; ++moe) {
    for (int non_moe = 1; non_moe <= (cuts_sequence ? kMaxDegree : 1); ++non_moe) {
      if (moe % non_moe == 0 || non_moe % moe == 0) {
        degrees.push_back({moe, non_moe});
      }
    }
  }
  return degrees;
}

}  // namespace

Evaluator fixed_kinds_evaluator(const Cluster& cluster,
                                const Profile& profile,
                                const std::vector<FixedKind>& kinds) {
  return {.evaluate =
              [&cluster, &profile, kinds](const Program& program) {
                SimulationOptions options;
                options.keep_spans = false;
                const Trace trace =
                    simulate(with_fixed_kinds(program, kinds), &cluster, &profile, options);
                const Time backward = end_of(trace, Pass::kBackward);
                return Evaluation{end_of(trace, Pass::kForward), backward, backward};
              },
          .durations =
              [&cluster, &profile, kinds](const Program& program) {
                return task_durations(with_fixed_kinds(program, kinds), &cluster, &profile);
              },
          .fits = [](const Program&) { return true; }};
}

Evaluator forward_only(const Evaluator& evaluator) {
  Evaluator forward = evaluator;
  forward.evaluate = [evaluate = evaluator.evaluate](const Program& program) {
    const Time end = evaluate(program).forward;
    return Evaluation{end, end, end};
  };
  return forward;
}

Time searched_layer_time(const std::string& schedule,
                         const Scenario& scenario,
                         const Evaluator& evaluator) {
  if (schedule == "parm") {
    return std::min(searched_layer_time("parm_s1", scenario, evaluator),
                    searched_layer_time("parm_s2", scenario, evaluator));
  }
  const DegreeChoice choice = find_definition(schedule).choice;
  AddedLayer layer(schedule, scenario, evaluator);
  Time forward = Time::max();
  Time backward = Time::max();
  Time both = Time::max();
  for (const SameDegrees& degrees : candidates(choice, scenario)) {
    const PassTimes times = layer.at(degrees);
    forward = std::min(forward, times.forward);
    backward = std::min(backward, times.backward);
    both = std::min(both, times.forward + times.backward);
  }
  return choice == DegreeChoice::kSeparate ? forward + backward : both;
}

Time paper_layer_time(const std::string& schedule,
                      const Scenario& scenario,
                      const Evaluator& evaluator) {
  const auto time_of = [&](int layers) {
    Scenario model = scenario;
    model.model.layers = layers;
    const Plan plan = plan_schedule(schedule, model, Policy::kPaper, evaluator);
    return evaluator.evaluate(plan.program).total;
  };
  return (time_of(kManyLayers) - time_of(kFewLayers)) / (kManyLayers - kFewLayers);
}

}  // namespace moesim::validation
