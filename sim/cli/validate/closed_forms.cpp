#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/base/random.h"
#include "sim/cli/validate/region_program.h"
#include "sim/cli/validate/sections.h"

namespace moesim::validation {
namespace {

constexpr PipelinePolicy kThreeStreams{.overlap_intra_with_inter = true};
constexpr PipelinePolicy kOneCommunication{.overlap_intra_with_inter = false};
constexpr int kMinPipeMoeDegree = 2;

double whole(Random& random, std::int64_t limit) {
  return static_cast<double>(random.uniform_int(0, limit));
}

struct RegionSet {
  int degree = 1;
  ChunkTimes times;
};

// Times of up to 50 ps, where ties are common, or up to 1 ms; every other set without a slice.
RegionSet draw_set(Random& random, int first_degree) {
  const std::int64_t limit = random.uniform_int(0, 1) == 0 ? 50 : 1'000'000'000;
  const std::int64_t degree = random.uniform_int(first_degree, kMaxDegree);
  RegionSet set{static_cast<int>(degree), {}};
  set.times.a = whole(random, limit);
  set.times.g = whole(random, limit);
  set.times.s = whole(random, limit);
  set.times.e = whole(random, 3 * limit);
  set.times.gar = random.uniform_int(0, 1) == 0 ? 0 : whole(random, degree * 3 * limit);
  return set;
}

class Regions {
 public:
  explicit Regions(const PipelinePolicy& policy) : policy_(policy) {}

  // Picoseconds, all of which a double holds exactly.
  double simulate(const RegionSet& set) {
    const bool has_slice = set.times.gar > 0;
    const auto at = programs_.try_emplace({set.degree, has_slice}, policy_, set.degree, has_slice);
    return static_cast<double>(at.first->second.simulate(set.times).picoseconds());
  }

 private:
  PipelinePolicy policy_;
  std::map<std::pair<int, bool>, RegionProgram> programs_;
};

// How simulated regions compare with a formula.
struct Comparison {
  int num_sets = 0;
  int num_equal = 0;
  int num_below = 0;
  double sum_gaps = 0;  // relative to the simulation
  double largest_gap = 0;

  void add(double simulated, double formula) {
    ++num_sets;
    num_equal += simulated == formula ? 1 : 0;
    num_below += simulated < formula ? 1 : 0;
    const double gap = simulated > 0 ? (simulated - formula) / simulated : 0;
    sum_gaps += gap;
    largest_gap = std::max(largest_gap, gap);
  }
};

// What FSMoE's selection by predicates gives against the largest case.
struct Selection {
  std::array<int, 4> cases{};  // sets in each
  int num_below_maximum = 0;

  void add(const RegionSet& set) {
    ++cases.at(static_cast<std::size_t>(fsmoe_case(set.degree, set.times) - 1));
    num_below_maximum +=
        fsmoe_time(set.degree, set.times) < fsmoe_bound(set.degree, set.times) ? 1 : 0;
  }
};

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::vector<std::string> row(const std::string& claim,
                             const Comparison& comparison,
                             const std::string& verdict) {
  return {claim,
          fmt::format("{}", comparison.num_sets),
          fmt::format("{}", comparison.num_equal),
          fmt::format("{}", comparison.num_below),
          percent(comparison.sum_gaps / std::max(1, comparison.num_sets)),
          percent(comparison.largest_gap),
          verdict};
}

}  // namespace

Finding study_closed_forms(const ClosedFormStudy& study) {
  Random random(study.seed);
  Regions three_streams(kThreeStreams);
  Regions one_communication(kOneCommunication);
  Comparison equal_gather;
  Comparison unequal_gather;
  Comparison pipemoe;
  Selection selection_equal;
  Selection selection_unequal;
  for (int i = 0; i < study.num_sets; ++i) {
    RegionSet set = draw_set(random, 1);
    unequal_gather.add(three_streams.simulate(set), study.fsmoe(set.degree, set.times));
    selection_unequal.add(set);
    set.times.s = set.times.g;
    equal_gather.add(three_streams.simulate(set), study.fsmoe(set.degree, set.times));
    selection_equal.add(set);
    set = draw_set(random, kMinPipeMoeDegree);
    set.times.g = set.times.s = set.times.gar = 0;
    pipemoe.add(one_communication.simulate(set), study.pipemoe(set.degree, set.times));
  }

  SectionWriter writer;
  writer.say(fmt::format(
      "Backward MoE regions that the pipelined builder makes, with the waits it derives, simulated "
      "with random whole picoseconds per chunk: AlltoAll a, AllGather g, ReduceScatter s, expert e "
      "and gradient slice gar, r = 1..{} (PipeMoE {}..{}), seed {}. A gap is relative to the "
      "simulated time.",
      kMaxDegree,
      kMinPipeMoeDegree,
      kMaxDegree,
      study.seed));
  Table table({"Claim", "sets", "equal", "below", "mean gap", "largest gap", "standing"});
  table.add(row("FSMoE, g = s: T = max(2ra + gar, 2a + g + s + re, 2ra + g + s, 2a + r(g + s))",
                equal_gather,
                writer.verdict(equal_gather.num_equal == equal_gather.num_sets)));
  table.add(row("FSMoE, any g and s: never below the same maximum",
                unequal_gather,
                writer.verdict(unequal_gather.num_below == 0)));
  table.add(row("PipeMoE: T = max(2ra, 2a + re)",
                pipemoe,
                writer.verdict(pipemoe.num_equal == pipemoe.num_sets)));
  writer.add(table);
  const auto& cases = selection_equal.cases;
  writer.say(
      fmt::format("FSMoE picks one of its four cases by predicates. With g = s ({}, {}, {} and {} "
                  "sets in cases "
                  "1 to 4) it picks one below the largest in {} sets; with any g and s in {} of "
                  "them: there the "
                  "region takes longer than the paper's formula says.",
                  cases[0],
                  cases[1],
                  cases[2],
                  cases[3],
                  selection_equal.num_below_maximum,
                  percent(static_cast<double>(selection_unequal.num_below_maximum) /
                          std::max(1, study.num_sets)),
                  study.num_sets));
  return std::move(writer).finish();
}

}  // namespace moesim::validation
