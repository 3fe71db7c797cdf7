#include "sim/cli/subject.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/base/message.h"
#include "sim/cli/evaluator.h"
#include "sim/cli/inputs.h"
#include "sim/cli/lineup.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "sim/io/imported_files.h"
#include "sim/io/output_paths.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {
namespace {

// A mistake of a schedule shows in every layer: the first few problems tell it.
std::string first_problems(const std::vector<Problem>& problems) {
  constexpr std::size_t kMaxProblems = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), kMaxProblems); ++i) {
    text += "\n  " + to_string(problems[i]);
  }
  if (problems.size() > kMaxProblems) {
    text +=
        fmt::format("\n  and {} more; moesim verify lists them", problems.size() - kMaxProblems);
  }
  return text;
}

// Without a scenario, only the fields of the cluster and the profile can be overridden.
void check_overrides(const ScenarioOptions& input) {
  for (const std::string& text : input.overrides) {
    const bool of_cluster = text.starts_with("cluster.");
    if (!of_cluster && !text.starts_with("profile.")) {
      throw Error("--set " + text,
                  "a Program has no such field; override those of its cluster (cluster.…) or "
                  "profile (profile.…)");
    }
    if (of_cluster ? input.cluster.empty() : input.profile.empty()) {
      throw Error(
          "--set " + text,
          fmt::format("there is no {0}; give --{0} FILE", of_cluster ? "cluster" : "profile"));
    }
  }
}

// An algorithm is one of the profile's collectives.
void check_algorithms(const ScenarioOptions& input) {
  if (!input.algorithms.empty() && input.profile.empty()) {
    throw Error("--algorithm " + input.algorithms[0], "there is no profile; give --profile FILE");
  }
}

// True where the task moves data between ranks.
bool moves_data(const Program& program, const Task& task) {
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  if (collective == nullptr) {
    return false;
  }
  const std::vector<std::vector<int>>& members = program.groups[collective->group].members;
  return std::any_of(
      members.begin(), members.end(), [](const auto& ranks) { return ranks.size() > 1; });
}

// "--cluster FILE and --profile FILE", of those that are needed and not there.
std::string missing_costs(const Subject& subject, const Task& task) {
  const bool moves = moves_data(subject.program(), task);
  const bool no_cluster = moves && !subject.cluster;
  const bool no_profile = (moves || computes(task.descriptor)) && !subject.profile;
  const char* separator = no_cluster && no_profile ? " and " : "";
  return fmt::format(
      "{}{}{}", no_cluster ? "--cluster FILE" : "", separator, no_profile ? "--profile FILE" : "");
}

// The Program of a file, with the cluster and the profile that are given with it.
Subject load_program_file(const std::string& program, const ScenarioOptions& input) {
  check_overrides(input);
  check_algorithms(input);
  Subject subject;
  const std::string text = read_file(program);
  Hash hash;
  hash.add(text);
  subject.plan.program = parse_program(text, program);
  if (!input.cluster.empty()) {
    const std::string cluster = read_file(input.cluster);
    hash.add(std::uint64_t{cluster.size()}).add(cluster);
    subject.cluster = wired(parse_cluster(cluster, input.cluster, input.overrides));
    add_imported(*subject.cluster, hash);
  }
  if (!input.profile.empty()) {
    const std::string profile = read_file(input.profile);
    hash.add(std::uint64_t{profile.size()}).add(profile);
    subject.profile = parse_profile(profile, input.profile, input.overrides);
    prefer(input.algorithms, *subject.profile);
  }
  for (const std::vector<std::string>* texts : {&input.overrides, &input.algorithms}) {
    for (const std::string& option : *texts) {
      hash.add(std::uint64_t{option.size()}).add(option);
    }
  }
  subject.inputs_hash = hash.hex();
  return subject;
}

// The files that a Program was read from, with all that was given beside it.
std::vector<std::string> files_of(const SubjectOptions& options, const Subject& subject) {
  std::vector<std::string> files;
  if (subject.cluster) {
    files = imported_files(*subject.cluster);
  }
  files.insert(files.end(), {options.program, options.input.cluster, options.input.profile});
  return files;
}

void require_links(const Cluster* cluster) {
  if (cluster == nullptr) {
    throw Error("--link-load shows the links of a cluster; give one by --cluster FILE");
  }
  if (cluster->links == nullptr) {
    throw Error(fmt::format(
        "--link-load: cluster '{}' is described by ports and has no links; describe its nodes and "
        "fabric (docs/inputs.md), or give another by --cluster FILE",
        visible_in_line(cluster->name)));
  }
}

}  // namespace

Scenario with_degrees(Scenario scenario, const std::optional<DegreeOption>& degree) {
  if (degree) {
    const std::optional<int> non_moe = scenario.degrees.non_moe;
    scenario.degrees = {};
    scenario.degrees.location = "--degree " + degree->text;
    scenario.degrees.non_moe = non_moe;
    scenario.degrees.forward = degree->forward;
    scenario.degrees.backward = degree->backward;
  }
  return scenario;
}

Subject plan_subject(const Inputs& inputs,
                     const std::string& schedule,
                     const PlanOptions& plan,
                     Resolution resolution) {
  Subject subject;
  subject.scenario = with_degrees(inputs.scenario, plan.degree);
  subject.cluster = inputs.cluster;
  subject.profile = inputs.profile;
  subject.inputs_hash = inputs.hash;
  subject.schedule = choose_schedule(inputs.scenario, schedule);
  const Evaluator evaluator = make_evaluator(*subject.cluster, *subject.profile, resolution);
  const Policy policy = plan.policy.value_or(Policy::kSearch);
  subject.plan = plan_schedule(subject.schedule, *subject.scenario, policy, evaluator);
  return subject;
}

Subject load_subject(const SubjectOptions& options, const SubjectNeeds& needs) {
  if (!options.program.empty()) {
    Subject subject = load_program_file(options.program, options.input);
    check_outputs(needs.outputs, files_of(options, subject));
    if (needs.links) {
      require_links(subject.cluster_or_null());
    }
    return subject;
  }
  const Inputs inputs = load_scenario_inputs(options.input);
  check_outputs(needs.outputs, files_of(inputs));
  if (needs.links) {
    require_links(&inputs.cluster);
  }
  return plan_subject(inputs, options.schedule, options.plan, needs.resolution);
}

void require_costs(const Subject& subject, const std::string& program) {
  for (const Task& task : subject.program().tasks) {
    const std::string missing = missing_costs(subject, task);
    if (!missing.empty()) {
      throw Error(program,
                  fmt::format("task '{}' ({}) has no time of its own, and what it costs is not "
                              "given; add {}",
                              visible_in_line(task.name),
                              descriptor_name(task.descriptor),
                              missing));
    }
  }
}

Verdict verify(const Subject& subject) {
  return verify(subject.program(), {.hardware_queues = hardware_queues(subject.profile_or_null())});
}

void require_verified(const Subject& subject) {
  const Verdict verdict = verify(subject);
  if (verdict.ok()) {
    return;
  }
  const std::string problems = first_problems(verdict.problems);
  if (subject.scenario) {
    throw std::runtime_error(
        fmt::format("schedule {} built a Program that is wrong{}", subject.schedule, problems));
  }
  require_in_bounds(subject);
  throw Error(subject.program().name,
              fmt::format("the verifier rejects this Program; mend it, or simulate it all the same "
                          "with --unverified{}",
                          problems));
}

void require_in_bounds(const Subject& subject) {
  const std::vector<Problem> problems = out_of_bounds(subject.program());
  if (!problems.empty()) {
    throw Error(subject.program().name,
                fmt::format("this Program is out of bounds, which --unverified does not excuse; "
                            "mend it{}",
                            first_problems(problems)));
  }
}

Trace simulate(const Subject& subject, const SimulationOptions& options) {
  return simulate(subject.program(), subject.cluster_or_null(), subject.profile_or_null(), options);
}

ResultInputs result_inputs(const Subject& subject, const Trace& trace) {
  return {.program = &subject.program(),
          .trace = &trace,
          .cluster = subject.cluster_or_null(),
          .profile = subject.profile_or_null(),
          .scenario = subject.scenario ? &*subject.scenario : nullptr,
          .plan = subject.scenario ? &subject.plan : nullptr,
          .schedule = subject.schedule,
          .inputs_hash = subject.inputs_hash};
}

}  // namespace moesim
