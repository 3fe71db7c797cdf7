#include "calibration/probe_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "sim/cluster/groups.h"

namespace moesim {
namespace {

constexpr int kNumLaunches = 200;
constexpr int kNumSizes = 5;
// Parts of the scenario's sequence on which operations are probed.
const std::vector<double> kShares = {0.125, 0.25, 0.5, 1};

// The smallest and the largest of a collective's sizes in bytes per rank.
struct SizeRange {
  int64_t least = 0;
  int64_t most = 0;
};

using CollectiveCase = std::pair<CollectiveOperation, Span>;

// A machine that could hold more would need rows beyond the range of their type.
constexpr int64_t kMostBytes = int64_t{1} << 38U;

// The collectives that move data in the Programs. SHIFT costs what the profile has for AlltoAll.
std::map<CollectiveCase, SizeRange> collective_cases(const CalibrationSubject& subject) {
  std::map<CollectiveCase, SizeRange> cases;
  for (const Program& program : subject.programs) {
    for (const Task& task : program.tasks) {
      const auto* collective = std::get_if<Collective>(&task.descriptor);
      if (collective == nullptr || program.groups[collective->group].members.front().size() < 2) {
        continue;
      }
      const bool is_shift = collective->operation == CollectiveOperation::kShift;
      const auto operation = is_shift ? CollectiveOperation::kAllToAll : collective->operation;
      const Span span =
          span_of(*subject.cluster, program.groups[collective->group].members.front());
      const auto [found, is_new] =
          cases.emplace(CollectiveCase{operation, span}, SizeRange{collective->bytes, 0});
      const int64_t bytes = std::min(collective->bytes, kMostBytes);
      found->second.least = std::min(found->second.least, bytes);
      found->second.most = std::max(found->second.most, bytes);
    }
  }
  return cases;
}

// Two collectives that are to share a port must last long enough to meet.
constexpr int64_t kLeastPair = 128 * 1024;

// Below, a collective is its start-up, and probes round up to whole rows.
constexpr double kLeastMost = 32 * 1024;

// Sizes from the least to the most, each the same factor above the one before.
std::vector<int64_t> ladder(const SizeRange& range) {
  const double most = std::max(kLeastMost, static_cast<double>(range.most));
  const double least = std::clamp(static_cast<double>(range.least), most / 64, most / 4);
  std::vector<int64_t> sizes;
  for (int i = 0; i < kNumSizes; ++i) {
    const double exponent = static_cast<double>(i) / (kNumSizes - 1);
    sizes.push_back(static_cast<int64_t>(least * std::pow(most / least, exponent)));
  }
  return sizes;
}

// By span, how many bytes the two collectives have that are to meet there.
std::map<Span, int64_t> pair_sizes(const std::map<CollectiveCase, SizeRange>& cases) {
  std::map<Span, int64_t> sizes;
  for (const auto& [which, range] : cases) {
    sizes[which.second] = std::max({sizes[which.second], range.most, kLeastPair});
  }
  return sizes;
}

}  // namespace

ProbePlan plan_probes(const CalibrationSubject& subject) {
  const Cluster& cluster = *subject.cluster;
  ProbePlan plan{.cluster = &cluster,
                 .launches = launch_probe(cluster.num_gpus(), kNumLaunches),
                 .collectives = {},
                 .pairs = {},
                 .operations = {}};
  const auto cases = collective_cases(subject);
  for (const auto& [which, range] : cases) {
    const auto& [operation, span] = which;
    plan.collectives.push_back({operation,
                                span,
                                static_cast<int>(span_group(cluster, span).members.front().size()),
                                collective_probe(cluster, operation, span, ladder(range))});
  }
  for (const auto& [span, bytes] : pair_sizes(cases)) {
    plan.pairs.push_back(paired_probe(cluster, span, bytes));
  }
  if (subject.with_operations) {
    plan.operations = operation_probes(*subject.scenario, kShares);
  }
  return plan;
}

std::vector<Program> programs_of(const ProbePlan& plan) {
  std::vector<Program> programs = {plan.launches.program};
  for (const PlannedCollective& planned : plan.collectives) {
    programs.push_back(planned.probe.program);
  }
  for (const std::vector<Probe>* probes : {&plan.pairs, &plan.operations}) {
    for (const Probe& probe : *probes) {
      programs.push_back(probe.program);
    }
  }
  return programs;
}

}  // namespace moesim
