#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.h"
#include "sim/report/json_text.h"
#include "sim/report/result.h"

namespace moesim {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of the contract

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

// Where the numbers come from: the keys that every document starts with.
Json identity(const SimulationResult& result) {
  return {{"version", result.version},
          {"inputs_hash", result.inputs_hash},
          {"scenario", result.scenario},
          {"seed", result.seed}};
}

void add_degrees(const SimulationResult& result, Json& json) {
  json["forward_degree"] = result.forward_degree;
  json["backward_degree"] = result.backward_degree;
  if (result.non_moe_degree) {
    json["non_moe_degree"] = *result.non_moe_degree;
  }
  if (!result.degrees.empty()) {
    json["degrees"] = result.degrees;
  }
  if (result.runner_up) {
    json["runner_up"] = *result.runner_up;
  }
}

Json streams_json(const SimulationResult& result) {
  Json streams = Json::object();
  for (const auto& [stream, busy] : result.stream_busy_seconds) {
    streams[stream] = {{"busy_seconds", busy}};
  }
  return streams;
}

Json variation_json(const ResultVariation& variation) {
  Json json = {{"ranks_at_other_speed", variation.num_other_speeds},
               {"slowest_speed", variation.slowest},
               {"fastest_speed", variation.fastest}};
  if (variation.jitter) {
    json["jitter"] = {{"relative_deviation", variation.jitter->relative_deviation},
                      {"distribution", to_string(variation.jitter->distribution)},
                      {"seed", variation.jitter->seed}};
  }
  return json;
}

Json measured_json(const MeasuredRuns& measured, const std::string& backend) {
  Json json = {{"backend", backend},
               {"accepted", measured.accepted},
               {"rejected", measured.rejected},
               {"median_seconds", measured.median_seconds},
               {"p25_seconds", measured.p25_seconds},
               {"lateness_seconds", measured.lateness_seconds},
               {"stopped", measured.stopped}};
  if (measured.delay_seconds) {
    json["delay_seconds"] = *measured.delay_seconds;
  }
  if (measured.spread) {
    json["spread"] = *measured.spread;
  }
  return json;
}

Json kernel_json(const KernelTime& kernel) {
  return {{"name", kernel.name},
          {"steps", kernel.count},
          {"total_seconds", kernel.total.seconds()},
          {"mean_seconds", kernel.mean_seconds()},
          {"bytes", kernel.bytes},
          {"flops", kernel.flops},
          {"bytes_per_second", kernel.bytes_per_second()},
          {"flops_per_second", kernel.flops_per_second()}};
}

Json to_json_object(const SimulationResult& result) {
  Json json = identity(result);
  json["schedule"] = result.schedule;
  json["policy"] = result.policy;
  json["variant"] = result.variant;
  json["resolution"] = result.resolution;
  json["num_classes"] = result.num_classes;
  json["num_ranks"] = result.num_ranks;
  json["iteration_seconds"] = result.iteration_seconds;
  add_degrees(result, json);
  json["tokens_per_second"] = result.tokens_per_second;
  json["model_flops_utilization"] = result.model_flops_utilization;
  json["peak_memory_bytes"] = result.memory.peak_bytes;
  json["memory"] = {{"weight_bytes", result.memory.weight_bytes},
                    {"gradient_bytes", result.memory.gradient_bytes},
                    {"optimizer_bytes", result.memory.optimizer_bytes},
                    {"activation_bytes", result.memory.activation_bytes}};
  json["gpu_memory_bytes"] = result.gpu_memory_bytes;
  json["fits"] = result.fits;
  json["dropped_share"] = result.dropped_share;
  json["streams"] = streams_json(result);
  json["exposed_communication_seconds"] = result.exposed_communication_seconds;
  json["straggler_wait_seconds"] = result.straggler_wait_seconds;
  if (result.stage_wait_seconds) {
    json["stage_wait_seconds"] = *result.stage_wait_seconds;
  }
  json["computing_seconds"] = result.computing_seconds;
  json["critical_path"] = result.critical_path_seconds;
  json["lower_bounds"] = {{"busiest_seconds", result.busiest_seconds},
                          {"busiest", result.busiest},
                          {"dependency_chain_seconds", result.dependency_chain_seconds}};
  if (result.sharing) {
    json["sharing"] = {{"exact", result.sharing->is_exact},
                       {"at_most_seconds", result.sharing->at_most.seconds()}};
  }
  json["bottleneck"] = {{"name", result.bottleneck},
                        {"share", result.bottleneck_share},
                        {"critical_path_share", result.bottleneck_path_share}};
  json["bound_by"] = result.bound_by;
  json["assumptions"] = result.assumptions;
  if (result.variation) {
    json["variation"] = variation_json(*result.variation);
  }
  for (const AblatedEffect& effect : result.ablation) {
    json["ablation"].push_back({{"effect", effect.effect},
                                {"iteration_seconds", effect.iteration_seconds},
                                {"cost_seconds", effect.cost_seconds}});
  }
  if (result.bottleneck_range) {
    json["bottleneck_range"] = Json::parse(to_json(*result.bottleneck_range));
  }
  if (result.measured) {
    json["measured"] = measured_json(*result.measured, result.backend);
  }
  for (const KernelTime& kernel : result.kernels) {
    json["kernels"].push_back(kernel_json(kernel));
  }
  return json;
}

Json row_json(const ComparisonRow& row) {
  if (!row.ran()) {
    return {{"schedule", row.schedule}, {"error", row.error}};
  }
  const SimulationResult& result = row.result;
  Json json = {{"schedule", row.schedule},
               {"policy", result.policy},
               {"variant", result.variant},
               {"resolution", result.resolution},
               {"iteration_seconds", result.iteration_seconds},
               {"speedup", row.speedup ? Json(*row.speedup) : Json()}};
  add_degrees(result, json);
  json["peak_memory_bytes"] = result.memory.peak_bytes;
  json["fits"] = result.fits;
  json["exposed_communication_seconds"] = result.exposed_communication_seconds;
  json["straggler_wait_seconds"] = result.straggler_wait_seconds;
  json["computing_seconds"] = result.computing_seconds;
  json["critical_path"] = result.critical_path_seconds;
  json["bound_by"] = result.bound_by;
  return json;
}

// Every rank's spans, a line each: a class has the spans of its representative.
std::string spans_text(const Program& program, const Trace& trace) {
  std::vector<const RankClass*> class_of(program.num_ranks, nullptr);
  for (const RankClass& rank_class : trace.classes) {
    class_of.at(rank_class.representative) = &rank_class;
  }
  std::vector<std::string> streams;
  for (const std::string& stream : program.streams) {
    streams.push_back(json_quoted(stream));
  }
  fmt::memory_buffer text;
  const char* separator = "";
  for (const TaskSpan& span : trace.spans) {
    const Task& task = program.tasks[span.task];
    const RankClass* rank_class = class_of.at(span.rank);
    CHECK(rank_class != nullptr, "rank {} represents no class", span.rank);
    const std::string rest =
        fmt::format(R"("stream": {}, "task": {}, "start_seconds": {}, "end_seconds": {})",
                    task.stream == kNone ? R"("host")" : streams[task.stream],
                    json_quoted(task.name),
                    span.start.seconds(),
                    span.end.seconds());
    for (const int rank : rank_class->ranks) {
      fmt::format_to(
          std::back_inserter(text), "{}\n    {{\"rank\": {}, {}}}", separator, rank, rest);
      separator = ",";
    }
  }
  return fmt::to_string(text);
}

}  // namespace

std::string json_quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const SimulationResult& result) {
  return text_of(to_json_object(result)) + "\n";
}

std::string to_json(const SimulationResult& result, const Program& program, const Trace& trace) {
  std::string text = text_of(to_json_object(result));
  text.erase(text.rfind("\n}"));
  return text + ",\n  \"spans\": [" + spans_text(program, trace) + "\n  ]\n}\n";
}

std::string to_json(const Comparison& comparison) {
  const auto first = std::find_if(
      comparison.rows.begin(), comparison.rows.end(), [](const auto& row) { return row.ran(); });
  Json json = first == comparison.rows.end() ? Json::object() : identity(first->result);
  json["baseline"] = comparison.baseline;
  json["rows"] = Json::array();
  for (const ComparisonRow& row : comparison.rows) {
    json["rows"].push_back(row_json(row));
  }
  if (comparison.bottleneck_range) {
    json["bottleneck_range"] = Json::parse(to_json(*comparison.bottleneck_range));
  }
  json["assumptions"] = Json::array();
  for (const SharedAssumption& assumption : all_assumptions(comparison)) {
    json["assumptions"].push_back(assumption.line());
  }
  return text_of(json) + "\n";
}

}  // namespace moesim
