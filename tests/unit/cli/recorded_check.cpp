#include "tests/unit/cli/recorded_check.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/probe/measure_probes.h"
#include "sim/cli/gpu_check_plan.h"
#include "sim/cli/inputs.h"
#include "sim/engine/simulate.h"
#include "tests/support/simulated_gpu.h"

namespace moesim {
namespace {

using nlohmann::json;

constexpr int kNumRuns = 2;
constexpr const char* kGpu = "a simulated GPU";

// Of all ranks, as an executor has them; later runs are 0.1 % slower.
MeasuredProgram record(const PlannedProgram& planned, const Inputs& inputs) {
  const Program& program = planned.program;
  const Trace trace =
      simulate(program, &inputs.cluster, &inputs.profile, {.resolution = Resolution::kPorts});
  MeasuredProgram measured{program.name, planned.hash, program.num_ranks, {}};
  for (int i = 0; i < kNumRuns; ++i) {
    const auto later = [i](Time time) {
      return Time::from_picoseconds(time.picoseconds() + time.picoseconds() / 1000 * i);
    };
    MeasuredRun& run = measured.runs.emplace_back();
    run.spans = trace.spans;
    for (TaskSpan& span : run.spans) {
      for (Time* time : {&span.launched, &span.start, &span.transfer, &span.end}) {
        *time = later(*time);
      }
      run.end = std::max(run.end, span.end);
    }
  }
  return measured;
}

// Of each group the first few.
GpuProbes probe(bool only_queues, std::uint64_t seed) {
  constexpr std::size_t kMostOfGroup = 6;
  const ProbeMachine machine{.num_gpus = 1,
                             .num_sms = 132,
                             .memory_bytes = std::int64_t{100} << 30U,
                             .queues = only_queues ? 1 : 32};
  std::vector<ProbeGroup> groups =
      only_queues ? plan_queue_probes(machine) : plan_gpu_probes(machine);
  for (ProbeGroup& group : groups) {
    group.probes.resize(std::min(group.probes.size(), kMostOfGroup));
  }
  SimulatedGpu gpu({}, seed);
  ProbeRules rules;
  rules.elapsed = [&gpu] { return gpu.elapsed(); };
  GpuProbes probes = measure_probes(groups, rules, gpu);
  probes.num_sms = machine.num_sms;
  probes.environment = {kGpu};
  return probes;
}

const char* name_of(GpuCheckStatus status) {
  constexpr const char* kNames[] = {"DONE", "CUT_OFF", "FAILED", "SKIPPED"};
  return kNames[static_cast<int>(status)];
}

json to_json(const GpuCheckPart& part) {
  json object = {{"name", part.name},
                 {"status", name_of(part.status)},
                 {"seconds", part.seconds},
                 {"budget_seconds", part.budget_seconds},
                 {"num_planned", part.num_planned}};
  if (!part.message.empty()) {
    object["message"] = part.message;
  }
  return object;
}

json to_json(const EqualityCase& one) {
  json object = {{"program", one.program}, {"num_ranks", one.num_ranks}};
  if (one.failure.empty()) {
    object["num_buffers"] = one.num_buffers;
    object["num_different"] = one.num_different;
  } else {
    object["failure"] = one.failure;
  }
  return object;
}

}  // namespace

Inputs small_gpu_check(const std::vector<std::string>& schedules) {
  Inputs inputs =
      load_scenario_inputs("scenarios/gpu_check_4.txtpb",
                           {"model.sequence=256", "model.embedding=256", "model.hidden=512"});
  inputs.scenario.schedules = schedules;
  return inputs;
}

validation::GpuStudy small_gpu_study() {
  const Inputs inputs = small_gpu_check({"tutel", "fsmoe"});
  return {.scenarios = {.timed = {inputs}, .compared = {inputs}, .in_processes = {inputs}}};
}

GpuCheck recorded_check(const validation::GpuStudy& study, std::uint64_t seed) {
  GpuCheck check;
  check.version = "0.1.0";
  check.date = "2026-01-01 00:00 UTC";
  check.environment = {kGpu, "Linux"};
  const GpuCheckPlan plan = plan_gpu_check(study.scenarios);
  for (const PlannedEquality& one : plan.equality) {
    check.equality.push_back({one.schedule, one.num_ranks, one.num_buffers, 0, ""});
  }
  for (const PlannedEquality& one : plan.nccl) {
    check.nccl.push_back({one.schedule, one.num_ranks, one.num_buffers, 0, ""});
  }
  check.probes = {probe(false, seed), probe(true, seed)};
  check.attention = {{kAttentionProgram, 3, 9, 0.003, ""}};
  for (const Inputs& inputs : study.scenarios.timed) {
    for (const PlannedProgram& planned : plan_gpu_check({.timed = {inputs}}).programs) {
      check.programs.push_back(record(planned, inputs));
    }
  }
  const std::size_t planned[] = {
      check.equality.size(), 1, 1, 1, check.programs.size(), check.nccl.size()};
  for (std::size_t i = 0; i < kGpuCheckParts.size(); ++i) {
    check.parts.push_back({.name = kGpuCheckParts[i],
                           .seconds = 7,
                           .budget_seconds = 100,
                           .num_planned = static_cast<int>(planned[i])});
  }
  return check;
}

std::string to_json(const GpuCheck& check) {
  json root = {
      {"version", check.version}, {"date", check.date}, {"environment", check.environment}};
  for (const char* list : {"parts", "equality", "probes", "attention", "programs", "nccl"}) {
    root[list] = json::array();
  }
  for (const GpuCheckPart& part : check.parts) {
    root["parts"].push_back(to_json(part));
  }
  for (const EqualityCase& one : check.equality) {
    root["equality"].push_back(to_json(one));
  }
  for (const EqualityCase& one : check.nccl) {
    root["nccl"].push_back(to_json(one));
  }
  for (const GpuProbes& probes : check.probes) {
    root["probes"].push_back(json::parse(probes_to_json(probes)));
  }
  for (const AttentionCase& one : check.attention) {
    root["attention"].push_back(json::parse(attention_case_to_json(one)));
  }
  for (const MeasuredProgram& measured : check.programs) {
    root["programs"].push_back(json::parse(measured_program_to_json(measured)));
  }
  return root.dump() + '\n';
}

}  // namespace moesim
