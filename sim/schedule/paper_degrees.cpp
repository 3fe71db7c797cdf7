#include "sim/schedule/paper_degrees.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

#include "sim/schedule/gradient_policies.h"

namespace moesim {
namespace {

// From the authors' public code.
constexpr std::array kFsmoeDegrees{1, 2, 4, 8};
constexpr double kShortAllToAll = 1e-3;       // seconds; below it r_forward = 1
constexpr double kDiscount = 0.7;             // of the expert overlap that gradients may use
constexpr double kLeastExpertOverlap = 5e-3;  // seconds beyond the attention's time

double first(const std::vector<double>& times) {
  return times.empty() ? 0 : times.front();
}

// FSMoE's rules on the measured chunks of one scenario and one set of streams.
class FsmoeRules {
 public:
  FsmoeRules(const RoutedScenario& scenario,
             const PipelinePolicy& policy,
             const Evaluator& evaluator)
      : scenario_(&scenario),
        overlap_intra_with_inter_(policy.overlap_intra_with_inter),
        probe_(scenario, policy, evaluator) {
    for (const int degree : kFsmoeDegrees) {
      times_.emplace(degree, probe_.times(degree, degree));
    }
  }

  Degrees degrees() const {
    const int forward = forward_degree();
    const int backward = forward == 1 ? 1 : best_degree(Pass::kBackward, 0);
    Degrees degrees = Degrees::uniform(scenario_->model.layers, forward, backward);
    if (forward > 1 && scenario_->parallel.dp > 1) {
      fit_to_slices(degrees);
    }
    return degrees;
  }

 private:
  int forward_degree() const {
    const std::vector<double>& whole = times_.at(1).forward.dispatch;
    const bool is_short = !whole.empty() && whole.front() < kShortAllToAll;
    return is_short ? 1 : best_degree(Pass::kForward, 0);
  }

  int best_degree(Pass pass, double gar) const {
    int best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [degree, layer] : times_) {
      ChunkTimes chunk = chunk_times(pass == Pass::kBackward ? layer.backward : layer.forward);
      chunk.gar = gar;
      const double seconds = overlap_intra_with_inter_ ? fsmoe_time(degree, chunk)
                                                       : one_communication_time(degree, chunk);
      if (seconds < least) {
        least = seconds;
        best = degree;
      }
    }
    return best;
  }

  // In each stage the layers below the last one carry slices, each of which may change its layer's
  // degree.
  void fit_to_slices(Degrees& degrees) const {
    const PartitionProblem problem = partition_problem();
    const Partition partition = partition_gradient(problem);
    const int carried =
        std::accumulate(partition.region_rows.begin(), partition.region_rows.end(), 0) +
        std::accumulate(partition.dense_rows.begin(), partition.dense_rows.end(), 0);
    const bool all_hidden =
        carried == problem.rows_per_layer * static_cast<int>(problem.layers.size());
    const int discounted = discounted_slice(degrees.backward.back(), problem);
    const size_t stage_layers = problem.layers.size() + 1;
    for (size_t i = 0; i < partition.region_rows.size(); ++i) {
      const int rows = all_hidden ? discounted : partition.region_rows[i];
      const int degree = best_degree(Pass::kBackward, problem.reduction.of(rows));
      for (size_t end = stage_layers; end <= degrees.backward.size(); end += stage_layers) {
        degrees.backward[end - 2 - i] = degree;
      }
    }
  }

  PartitionProblem partition_problem() const {
    PartitionProblem problem;
    problem.rows_per_layer = gradient_rows(*scenario_);
    problem.reduction = probe_.reduction();
    PartitionLayer layer;
    for (const auto& [degree, times] : times_) {
      layer.regions.push_back(
          closed_form_line(degree, chunk_times(times.backward), overlap_intra_with_inter_));
      layer.dense_slot = times.backward.dense_slot;
    }
    problem.layers.assign(static_cast<size_t>(scenario_->stage_model().layers) - 1, layer);
    return problem;
  }

  // Rows of a layer's slice where step 1 of the partition hides all gradients: what the MoE region
  // takes is discounted (the authors' public code).
  int discounted_slice(int degree, const PartitionProblem& problem) const {
    const RegionTimes& times = times_.at(degree).backward;
    double overlap = std::max(0.0, expert_overlap(degree, chunk_times(times)));
    const double dense = times.dense_slot;
    overlap = overlap < dense + kLeastExpertOverlap ? 0 : kDiscount * overlap;
    const int rows = problem.rows_per_layer;
    const double total = problem.reduction.of(rows);
    const double in_region = std::min(total, overlap);
    const double in_dense = std::min(std::max(0.0, total - overlap), dense);
    const double rest = total - in_region - in_dense;
    return in_dense == 0 ? rows : std::min(rows, problem.reduction.rows_within(in_region + rest));
  }

  // The experts' time beyond the communication that runs beside them.
  double expert_overlap(int r, const ChunkTimes& t) const {
    if (!overlap_intra_with_inter_) {
      return r * t.e - (r - 1) * communication_time(t);
    }
    return r * t.e - (t.a > t.g ? 2 * (r - 1) * t.a : (r - 1) * (t.g + t.s));
  }

  const RoutedScenario* scenario_;
  bool overlap_intra_with_inter_;
  LayerProbe probe_;
  std::map<int, LayerTimes> times_;  // by degree
};

}  // namespace

ChunkTimes chunk_times(const RegionTimes& times) {
  return {.a = first(times.dispatch),
          .g = first(times.gather),
          .s = first(times.scatter),
          .e = first(times.expert),
          .gar = 0};
}

RegionLine closed_form_line(int r, const ChunkTimes& times, bool overlap_intra_with_inter) {
  ChunkTimes alone = times;
  alone.gar = 0;
  return overlap_intra_with_inter
             ? RegionLine{r, fsmoe_time(r, alone), 2 * r * times.a}
             : RegionLine{r, one_communication_time(r, alone), r * communication_time(times)};
}

Degrees pipemoe_degree(const RoutedScenario& scenario,
                       const PipelinePolicy& policy,
                       const Evaluator& evaluator) {
  const LayerProbe probe(scenario, policy, evaluator);
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int r = 1; r <= kMaxDegree; ++r) {
    const LayerTimes times = probe.times(r, r);
    const double seconds =
        pipemoe_time(r, chunk_times(times.forward)) + pipemoe_time(r, chunk_times(times.backward));
    if (seconds < least) {
      least = seconds;
      best = r;
    }
  }
  return Degrees::uniform(scenario.model.layers, best, best);
}

Degrees fsmoe_degrees(const RoutedScenario& scenario,
                      const PipelinePolicy& policy,
                      const Evaluator& evaluator) {
  return FsmoeRules(scenario, policy, evaluator).degrees();
}

}  // namespace moesim
