#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/report/result.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

using NamedSeconds = std::vector<std::pair<std::string, double>>;

std::string heading(const SimulationResult& result) {
  std::string text = result.scenario;
  if (!result.schedule.empty()) {
    text += ", " + result.schedule;
  }
  return result.variant.empty() ? text : text + " as " + result.variant;
}

std::string speed(const SimulationResult& result, const TimeUnit& unit) {
  std::string text = unit.format(result.iteration_seconds);
  if (result.tokens_per_second > 0) {
    text += fmt::format("   {:.0f} tokens/s", result.tokens_per_second);
  }
  if (result.model_flops_utilization > 0) {
    text += fmt::format(", {} of the GEMM rate (model FLOP utilisation)",
                        format_percent(result.model_flops_utilization));
  }
  return text;
}

std::string degrees(const SimulationResult& result) {
  if (result.policy == "none") {
    return "none: the schedule has no chunks";
  }
  std::string text =
      fmt::format("forward {}, backward {}", result.forward_degree, result.backward_degree);
  if (result.non_moe_degree) {
    text += fmt::format(", non-MoE {}", *result.non_moe_degree);
  }
  if (!result.degrees.empty()) {
    text += ", the largest of its layers";
  }
  text += result.policy.empty() ? "" : fmt::format(" ({})", result.policy);
  text += result.largest_degree_tried ? fmt::format("; {} is the largest tried", kMaxDegree) : "";
  return result.runner_up ? text + "; next best " + *result.runner_up : text;
}

std::string memory(const SimulationResult& result) {
  const MemoryUse& use = result.memory;
  std::string text = format_bytes(use.peak_bytes) + " per GPU at its fullest";
  if (use.peak_bytes > 0) {
    text += fmt::format(" (weights {}, gradients {}, optimizer {}, activations {})",
                        format_bytes(use.weight_bytes),
                        format_bytes(use.gradient_bytes),
                        format_bytes(use.optimizer_bytes),
                        format_bytes(use.activation_bytes));
  }
  if (result.gpu_memory_bytes == 0) {
    return text;
  }
  const char* verdict = result.fits ? "fits" : "does NOT fit";
  return text + fmt::format(", {} in {}", verdict, format_bytes(result.gpu_memory_bytes));
}

std::string origin(const SimulationResult& result) {
  const char* classes = result.num_classes == 1 ? "class" : "classes";
  std::string text =
      fmt::format("{} ranks in {} {}", result.num_ranks, result.num_classes, classes);
  text += result.resolution.empty() ? "" : fmt::format(" ({})", result.resolution);
  text += fmt::format(", seed {}, moesim {}", result.seed, result.version);
  return result.inputs_hash.empty() ? text : text + ", inputs " + result.inputs_hash;
}

std::string sharing(const SimulationResult& result) {
  if (result.sharing->is_exact) {
    return "exact: resolution flows gives the same";
  }
  const double at_most = result.sharing->at_most.seconds();
  if (at_most <= result.iteration_seconds) {
    return "bounded: by resolution flows perhaps less, not more";
  }
  return "bounded: by resolution flows perhaps less, perhaps more, at most " +
         TimeUnit(result.iteration_seconds).format(at_most);
}

std::string runs(const MeasuredRuns& measured, const std::string& backend) {
  const TimeUnit unit(measured.median_seconds);
  const std::string known =
      measured.spread ? fmt::format(", known to {}", format_percent(*measured.spread)) : "";
  const std::string delayed =
      measured.delay_seconds
          ? fmt::format(", the iteration delayed by {}", unit.format(*measured.delay_seconds))
          : "";
  return fmt::format(
      "median of {} on {} ({} more were disturbed){}, p25 {}, a task late by {} at most{}",
      counted(static_cast<std::size_t>(measured.accepted), "run"),
      backend,
      measured.rejected,
      known,
      unit.format(measured.p25_seconds),
      unit.format(measured.lateness_seconds),
      delayed);
}

// A titled block of times with their share of the iteration.
std::string shares(const std::string& title, const NamedSeconds& rows, double iteration) {
  if (rows.empty()) {
    return "";
  }
  const TimeUnit unit(iteration);
  TextTable table({Align::kLeft, Align::kRight, Align::kRight}, 2);
  for (const auto& [name, seconds] : rows) {
    const double share = iteration > 0 ? seconds / iteration : 0;
    table.add_row({name, unit.format(seconds), format_percent(share)});
  }
  return "\n" + title + "\n" + table.to_string();
}

NamedSeconds largest_first(const std::map<std::string, double>& times) {
  NamedSeconds rows(times.begin(), times.end());
  const auto larger = [](const auto& a, const auto& b) { return a.second > b.second; };
  std::stable_sort(rows.begin(), rows.end(), larger);
  return rows;
}

NamedSeconds means(const SimulationResult& result) {
  NamedSeconds rows;
  for (const auto& [stream, busy] : result.stream_busy_seconds) {
    rows.emplace_back("stream " + stream + " busy", busy);
  }
  rows.emplace_back("computing", result.computing_seconds);
  rows.emplace_back("exposed communication", result.exposed_communication_seconds);
  rows.emplace_back("waiting for stragglers", result.straggler_wait_seconds);
  if (result.stage_wait_seconds) {
    rows.emplace_back("waiting for another stage", *result.stage_wait_seconds);
  }
  return rows;
}

NamedSeconds lower_bounds(const SimulationResult& result) {
  const std::string name = result.busiest.empty() ? "none" : result.busiest;
  return {{"busiest: " + name, result.busiest_seconds},
          {"longest chain of data dependences", result.dependency_chain_seconds}};
}

std::string ablation(const SimulationResult& result) {
  if (result.ablation.empty()) {
    return "";
  }
  const TimeUnit unit(result.iteration_seconds);
  TextTable table({Align::kLeft, Align::kRight, Align::kRight}, 2);
  table.add_row({"without", "iteration", "it costs"});
  for (const AblatedEffect& effect : result.ablation) {
    table.add_row({effect.effect,
                   unit.format(effect.iteration_seconds),
                   unit.format_difference(effect.cost_seconds)});
  }
  return "\nablation\n" + table.to_string();
}

}  // namespace

std::string to_table(const SimulationResult& result) {
  TextTable facts({Align::kLeft, Align::kLeft}, 2);
  facts.add_row({"iteration", speed(result, TimeUnit(result.iteration_seconds))});
  if (!result.policy.empty()) {
    facts.add_row({"degrees", degrees(result)});
  }
  facts.add_row({"bound by", result.bound_by});
  facts.add_row({"peak memory", memory(result)});
  if (result.dropped_share > 0) {
    facts.add_row({"dropped", format_percent(result.dropped_share) + " of the tokens' choices"});
  }
  if (result.measured) {
    facts.add_row({"measured", runs(*result.measured, result.backend)});
  }
  facts.add_row({result.measured ? "executed" : "simulated", origin(result)});
  if (result.sharing) {
    facts.add_row({"shared links", sharing(result)});
  }
  const double iteration = result.iteration_seconds;
  std::string text = visible_in_line(heading(result)) + "\n" + facts.to_string();
  text += shares("critical path", largest_first(result.critical_path_seconds), iteration);
  text += shares("mean over ranks", means(result), iteration);
  if (result.busiest_seconds > 0 || result.dependency_chain_seconds > 0) {
    text += shares("no order of these tasks is faster than", lower_bounds(result), iteration);
  }
  text += to_text(result.kernels);
  text += ablation(result);
  text += result.bottleneck_range ? to_table(*result.bottleneck_range) : "";
  if (!result.assumptions.empty()) {
    text += "\nassumptions\n";
    for (const std::string& assumption : result.assumptions) {
      text += "  - " + visible_in_line(assumption) + "\n";
    }
  }
  return text;
}

}  // namespace moesim
