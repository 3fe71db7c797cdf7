#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/cli/validate/resolution_cases.h"
#include "sim/cli/validate/sections.h"
#include "sim/engine/simulate.h"

namespace moesim::validation {
namespace {

// Where flows are to agree they may differ by the roundings of their beginnings and ends.
constexpr double kRounding = 1e-9;

struct Ends {
  Trace fold;
  Trace ports;
  Trace flows;

  double later() const { return ratio(flows.end, ports.end) - 1; }
  // Of the end of any task on any rank, relative to the iteration.
  double difference() const;
  bool keeps_its_word() const {
    const SharingStanding& sharing = *fold.sharing;
    const double latest = sharing.at_most.seconds() * (1 + kRounding);
    return fold.end == ports.end &&
           (sharing.is_exact ? difference() <= kRounding : flows.end.seconds() <= latest);
  }
};

double Ends::difference() const {
  std::map<std::pair<int, int>, Time> end_of;  // rank and task
  for (const TaskSpan& span : ports.spans) {
    end_of[{span.rank, span.task}] = span.end;
  }
  Time largest;
  for (const TaskSpan& span : flows.spans) {
    const Time end = end_of.at({span.rank, span.task});
    largest = std::max(largest, std::max(end, span.end) - std::min(end, span.end));
  }
  return ratio(largest, ports.end);
}

Ends ends_of(const ResolutionCase& of, const ResolutionsStudy& study) {
  const auto simulated = [&](Resolution resolution) {
    return study.simulate(of.program, &of.cluster, &of.profile, {.resolution = resolution});
  };
  return {.fold = simulated(Resolution::kFold),
          .ports = simulated(Resolution::kPorts),
          .flows = simulated(Resolution::kFlows)};
}

std::string milliseconds(Time time) {
  return fmt::format("{:.6f}", 1e3 * time.seconds());
}

std::string difference(double relative) {
  return relative == 0 ? "0" : fmt::format("{:.1e}", relative);
}

void compare_cases(const ResolutionsStudy& study, SectionWriter& writer) {
  writer.say("### The three resolutions");
  Table table({"case",
               "ranks",
               "classes",
               "fold, ports ms",
               "flows ms",
               "iteration",
               "any task",
               "stated",
               "standing"});
  for (const ResolutionCase& of : resolution_cases(study.quickstart)) {
    const Ends ends = ends_of(of, study);
    const SharingStanding& sharing = *ends.fold.sharing;
    table.add({of.name,
               fmt::format("{}", of.program.num_ranks),
               fmt::format("{}", ends.fold.classes.size()),
               milliseconds(ends.ports.end),
               milliseconds(ends.flows.end),
               difference(ends.later()),
               difference(ends.difference()),
               sharing.is_exact ? "exact" : "at most " + milliseconds(sharing.at_most),
               writer.verdict(ends.keeps_its_word() ? Standing::kConsistent : Standing::kMiss)});
  }
  writer.add(table);
  writer.say(fmt::format(
      "Differences are relative to the iteration: of its end, later being positive, and the "
      "largest of "
      "any task's end on any rank. \"exact\" is held to {:.0e}: flows end at whole picoseconds. "
      "\"at most\" is the end that "
      "the "
      "folded result states for resolution flows ([model.md](model.md), \"Resolutions\").",
      kRounding));
}

void compare_random(const ResolutionsStudy& study, SectionWriter& writer) {
  writer.say("### Random Programs");
  int num_exact = 0;
  int num_kept = 0;
  double latest = 0;
  double earliest = 0;
  double widest = 1;
  for (int trial = 0; trial < study.num_random; ++trial) {
    Random random(study.seed, static_cast<std::uint64_t>(trial));
    const Ends ends = ends_of(random_resolution_case(random), study);
    num_exact += ends.fold.sharing->is_exact ? 1 : 0;
    num_kept += ends.keeps_its_word() ? 1 : 0;
    latest = std::max(latest, ends.later());
    earliest = std::min(earliest, ends.later());
    widest = std::max(widest, ratio(ends.fold.sharing->at_most, ends.ports.end));
  }
  Table table({"Programs (seed)", "exact", "as stated", "standing"});
  table.add({fmt::format("{} ({})", study.num_random, study.seed),
             fmt::format("{}", num_exact),
             fmt::format("{}", num_kept),
             writer.verdict(num_kept == study.num_random)});
  writer.add(table);
  writer.say(fmt::format(
      "Two to six collectives on up to three streams of 8 to 64 ranks, every other time with a "
      "slow "
      "NIC. Measured, not proven: flows ends at most {:.1f} % later than ports and at "
      "most {:.1f} % earlier. Proven bounds are wider: up to {:.2f} times what ports says.",
      100 * latest,
      -100 * earliest,
      widest));
}

void compare_numbers(const ResolutionsStudy& study, SectionWriter& writer) {
  writer.say("### Other numbers for the same ranks");
  std::vector<int> plain(kRenumberedRanks);
  std::iota(plain.begin(), plain.end(), 0);
  const Ends before = ends_of(renumbered_case(plain), study);
  double farthest = 0;
  bool classes_stay = true;
  for (int trial = 0; trial < study.num_numberings; ++trial) {
    Random random(study.seed, static_cast<std::uint64_t>(trial));
    const Ends after = ends_of(renumbered_case(random_numbers(random)), study);
    for (const auto& [a, b] : {std::pair(before.fold.end, after.fold.end),
                               std::pair(before.ports.end, after.ports.end),
                               std::pair(before.flows.end, after.flows.end)}) {
      farthest = std::max(farthest, std::abs(ratio(b, a) - 1));
    }
    classes_stay &= before.fold.classes.size() == after.fold.classes.size();
  }
  Table table({"numberings (seed)", "largest relative difference", "same classes", "standing"});
  table.add({fmt::format("{} ({})", study.num_numberings, study.seed),
             difference(farthest),
             classes_stay ? "yes" : "no",
             writer.verdict(farthest <= kRounding && classes_stay)});
  writer.add(table);
  writer.say(
      "An AlltoAll over ep beside an AllReduce over all, 64 ranks on a three-level tree with "
      "rails, "
      "one NIC at half rate: nodes at one leaf change places, and the GPUs of all nodes with their "
      "NICs, in groups and cluster alike.");
}

}  // namespace

Finding study_resolutions(const ResolutionsStudy& study) {
  SectionWriter writer;
  writer.say(
      "`flows` makes every message of every collective a flow of its own, on every rank, and "
      "shares "
      "all links and ports among all flows at once; it folds nothing and knows no queue. `ports` "
      "and "
      "`fold` drain each link by itself.");
  compare_cases(study, writer);
  compare_random(study, writer);
  compare_numbers(study, writer);
  return std::move(writer).finish();
}

}  // namespace moesim::validation
