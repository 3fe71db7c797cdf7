#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/cli/validate/random_program.h"
#include "sim/cli/validate/sections.h"
#include "sim/engine/simulate.h"

namespace moesim::validation {
namespace {

// One rank a node, collectives that take no time: they only join their ranks.
Cluster bare_cluster(int num_ranks) {
  Cluster cluster;
  cluster.name = "bare";
  cluster.num_nodes = num_ranks;
  cluster.gpus_per_node = 1;
  return cluster;
}

Profile bare_profile(const RandomProgram& random) {
  Profile profile;
  profile.name = "bare";
  profile.launch_overhead_seconds = random.launch_overhead.seconds();
  profile.hardware_queues = random.hardware_queues;
  CollectiveCost free;
  free.span = Span::kFabric;
  profile.collectives.push_back(free);
  return profile;
}

using Interval = std::tuple<int, int, Time, Time, Time, Time>;  // rank, task, then the times

std::vector<Interval> sorted(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  return intervals;
}

Interval interval(const TaskSpan& span, int rank) {
  return {rank, span.task, span.launched, span.start, span.transfer, span.end};
}

// What a trace says of every rank: a class's ranks all did what its representative did.
std::vector<Interval> intervals(const Trace& trace) {
  std::vector<Interval> intervals;
  for (const RankClass& alike : trace.classes) {
    for (const TaskSpan& span : trace.spans) {
      for (const int rank : alike.ranks) {
        if (span.rank == alike.representative) {
          intervals.push_back(interval(span, rank));
        }
      }
    }
  }
  return sorted(std::move(intervals));
}

std::vector<Interval> intervals(const std::vector<TaskSpan>& spans) {
  std::vector<Interval> intervals;
  intervals.reserve(spans.size());
  for (const TaskSpan& span : spans) {
    intervals.push_back(interval(span, span.rank));
  }
  return sorted(std::move(intervals));
}

}  // namespace

Finding study_recurrence(const RecurrenceStudy& study) {
  int num_equal = 0;
  std::size_t num_intervals = 0;
  for (int i = 0; i < study.num_programs; ++i) {
    const RandomProgram random = random_program(study.seed, i);
    const Cluster cluster = bare_cluster(random.program.num_ranks);
    const Profile profile = bare_profile(random);
    const auto expected =
        intervals(study.solve(random.program, {random.launch_overhead, random.hardware_queues}));
    bool equal = true;
    for (const Resolution resolution : {Resolution::kFold, Resolution::kPorts}) {
      SimulationOptions options;
      options.resolution = resolution;
      equal &= expected == intervals(simulate(random.program, &cluster, &profile, options));
    }
    num_equal += equal ? 1 : 0;
    num_intervals += expected.size();
  }
  SectionWriter writer;
  writer.say(
      "Random Programs of fixed tasks: 1 to 4 ranks, roles, 1 to 6 streams, waits, host waits, "
      "meetings of ranks, ranks of unequal speed, launch overhead, 1 and 32 hardware queues. The "
      "simulator's launch, start and end of every task on every rank, folded and not, must equal "
      "the execution model's rules solved as equations (`sim/analysis/recurrence.h`, which shares "
      "no code with the engine), in integer picoseconds.");
  Table table({"Programs (seed)", "task intervals", "equal Programs", "standing"});
  table.add({fmt::format("{} ({})", study.num_programs, study.seed),
             fmt::format("{}", num_intervals),
             fmt::format("{}", num_equal),
             writer.verdict(num_equal == study.num_programs)});
  writer.add(table);
  return std::move(writer).finish();
}

}  // namespace moesim::validation
