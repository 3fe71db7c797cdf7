#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/cli/validate/grid_point_times.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/sections.h"
#include "sim/cli/validate/unrounded_degrees.h"

namespace moesim::validation {
namespace {

constexpr double kTolerance = 0.04;  // of the averages that are held to the published ones

struct Testbed {
  std::string name;
  const Inputs* inputs = nullptr;
  PublishedSpeedups published;
  std::vector<GridPoint> points;
  std::vector<GridPointTimes> times;  // by point
};

using Selects = std::function<bool(const GridPoint&)>;

// The mean over the layers of T(baseline) / T(run).
double mean_speedup(
    const Testbed& testbed,
    GridRunIndex run,
    GridRunIndex baseline = kTutel,
    const Selects& selects = [](const GridPoint&) { return true; }) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < testbed.points.size(); ++i) {
    if (selects(testbed.points[i])) {
      sum += testbed.times[i].seconds[baseline] / testbed.times[i].seconds[run];
      ++count;
    }
  }
  return sum / std::max(1, count);
}

std::string two_digits(double value) {
  return fmt::format("{:.2f}", value);
}

std::string three_digits(double value) {
  return fmt::format("{:.3f}", value);
}

void write_averages(const std::vector<Testbed>& testbeds, SectionWriter& writer) {
  Table table({"Schedule", "testbed", "here", "published", "difference", "standing"});
  for (const Testbed& testbed : testbeds) {
    const auto add = [&](GridRunIndex run,
                         const std::string& published,
                         double difference,
                         const std::string& standing) {
      table.add({fmt::format("`{}`", kGridRuns[run].schedule),
                 testbed.name,
                 three_digits(mean_speedup(testbed, run)),
                 published,
                 std::isnan(difference) ? "" : fmt::format("{:+.3f}", difference),
                 standing});
    };
    const auto add_bar = [&](GridRunIndex run, double published) {
      const double mean = mean_speedup(testbed, run);
      Standing standing = judge(mean, {published, kTolerance});
      if (standing == Standing::kReproduced) {
        standing = Standing::kConsistent;  // the reading was chosen with these averages in view
      }
      add(run, two_digits(published), mean - published, writer.verdict(standing));
    };
    add(kDeepspeedMoe, "", std::nan(""), "no published average");
    add_bar(kTutelImproved, testbed.published.tutel_improved);
    add_bar(kFsmoeNoIio, testbed.published.fsmoe_no_iio);
    const double fsmoe = mean_speedup(testbed, kFsmoe);
    add(kFsmoe,
        two_digits(testbed.published.fsmoe),
        fsmoe - testbed.published.fsmoe,
        "not reproduced: see below");
  }
  writer.add(table);
}

void write_fsmoe(const std::vector<Testbed>& testbeds, SectionWriter& writer) {
  writer.say(
      "FSMoE itself, for each number of hardware queues and each policy. Here its streams slow "
      "each "
      "other only in a hardware queue. What else was at work on the testbeds (traffic between and "
      "within nodes on one PCIe link, for instance) is not published: the gap stands as it is, and "
      "nothing is tuned to close it.");
  Table table({"Hardware queues",
               "policy",
               "testbed",
               "over Tutel (32, search)",
               "over Tutel under the same",
               "published"});
  struct Cell {
    GridRunIndex fsmoe;
    GridRunIndex tutel;
  };
  for (const Cell& cell : {Cell{kFsmoe, kTutel},
                           Cell{kFsmoePaper, kTutelPaper},
                           Cell{kFsmoeOneQueue, kTutelOneQueue},
                           Cell{kFsmoeOneQueuePaper, kTutelOneQueuePaper}}) {
    for (const Testbed& testbed : testbeds) {
      const GridRun& run = kGridRuns[cell.fsmoe];
      table.add({fmt::format("{}", run.hardware_queues),
                 run.policy == Policy::kSearch ? "search" : "paper",
                 testbed.name,
                 three_digits(mean_speedup(testbed, cell.fsmoe)),
                 three_digits(mean_speedup(testbed, cell.fsmoe, cell.tutel)),
                 two_digits(testbed.published.fsmoe)});
    }
  }
  writer.add(table);
}

struct Slice {
  std::string name;
  Selects selects;
};

std::vector<Slice> slices(const Testbed& testbed) {
  std::map<int, Slice> sequences;
  std::map<int, Slice> embeddings;
  for (const GridPoint& point : testbed.points) {
    const int sequence = point.sequence;
    const int embedding = point.embedding;
    sequences[sequence] = {fmt::format("L = {}", sequence),
                           [sequence](const auto& at) { return at.sequence == sequence; }};
    embeddings[embedding] = {fmt::format("M = {}", embedding),
                             [embedding](const auto& at) { return at.embedding == embedding; }};
  }
  std::vector<Slice> slices;
  for (const auto* axis : {&sequences, &embeddings}) {
    for (const auto& [value, slice] : *axis) {
      slices.push_back(slice);
    }
  }
  for (const FeedForward kind : {FeedForward::kSimple, FeedForward::kSwiglu}) {
    slices.push_back({kind == FeedForward::kSimple ? "FFN simple" : "FFN Mixtral",
                      [kind](const auto& at) { return at.feed_forward == kind; }});
  }
  return slices;
}

void write_slices(const std::vector<Testbed>& testbeds, SectionWriter& writer) {
  writer.say("The same averages over parts of the grid (32 queues, policy search).");
  Table table({"Testbed", "part", "`tutel_improved`", "`fsmoe_no_iio`", "`fsmoe`"});
  for (const Testbed& testbed : testbeds) {
    for (const Slice& slice : slices(testbed)) {
      const auto mean = [&](GridRunIndex run) {
        return three_digits(mean_speedup(testbed, run, kTutel, slice.selects));
      };
      table.add({testbed.name, slice.name, mean(kTutelImproved), mean(kFsmoeNoIio), mean(kFsmoe)});
    }
  }
  writer.add(table);
}

void write_degrees(const Testbed& testbed, SectionWriter& writer) {
  int whole_rows = 0;
  int unrounded = 0;
  for (std::size_t i = 0; i < testbed.points.size(); ++i) {
    const GridPointTimes& times = testbed.times[i];
    whole_rows += times.forward_degree != times.backward_degree ? kLayersPerPoint : 0;
    const BestDegrees best = best_unrounded_degrees(scenario_at(testbed.points[i], *testbed.inputs),
                                                    testbed.inputs->profile);
    unrounded += best.forward != best.backward ? kLayersPerPoint : 0;
  }
  writer.say(fmt::format(
      "Layers on testbed {} with different best degrees (1..{}, no gradient in the region) forward "
      "and backward: {} with the whole rows and uneven chunks of Programs, {} by FSMoE's closed "
      "form without rounding; published 912. The authors' code tries only 1, 2, 4 and 8, so this "
      "is "
      "no evidence either way.",
      testbed.name,
      kMaxDegree,
      whole_rows,
      unrounded));
}

void write_reading(const std::vector<Testbed>& testbeds, SectionWriter& writer) {
  double rounding = 0;
  double sum = 0;
  int count = 0;
  for (const Testbed& testbed : testbeds) {
    for (const GridPointTimes& times : testbed.times) {
      rounding = std::max(rounding, times.rounding);
      sum += times.rounding;
      ++count;
    }
  }
  writer.say(
      "FSMoE's Table 4: B {1, 2, 4}, heads {8, 16, 32}, L {512, 1024, 2048} on testbed A and {256, "
      "512, 1024} on B, M {1024, 2048, 4096}, H/M {2, 3, 4}, f {1.2, 2.4, no drop}, feed-forward "
      "layers simple and Mixtral: 1458 layers on each. Heads enter no cost here, so each of 486 "
      "points is simulated once. Table 5: average speed-up over Tutel with PipeMoE's degrees, read "
      "as the mean of the layers' ratios.");
  writer.say(
      "A layer's time is what one more layer adds to a long model: T(3) - T(2) of the end of the "
      "backward pass (no update pass) of Programs that the schedules build, at the best degrees of "
      "1..8 (forward and backward apart for FSMoE's schedules); from n = 2 on T(n + 1) - T(n) "
      "stays "
      "the same. Policy `paper`: (T(14) - T(2)) / 12 with the authors' degrees. k = 2, k·f = 2f, "
      "no "
      "drop is f = 1. Gate, order, unorder and loss take no time; attention 4BLM²/N_MP + "
      "2BL²M/N_MP multiply-adds in four kernels, twice backward, for both kinds of layers; "
      "gradient 4M²/N_MP, Mixtral 2.5M²/N_MP.");
  writer.say(fmt::format(
      "Programs have whole rows per expert, where the paper's model has kf·B·L·M elements: {:.1f} "
      "% more on average, {:.1f} % at most, the same under every schedule.",
      100 * sum / std::max(1, count),
      100 * rounding));
}

Testbed simulate_testbed(Testbed testbed, const GridStudy& study) {
  const std::vector<GridPoint> all = std::exchange(testbed.points, {});
  for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(study.stride)) {
    testbed.points.push_back(all[i]);
  }
  const WorkerRun run{"points of testbed " + testbed.name,
                      static_cast<int>(testbed.points.size()),
                      study.num_workers};
  testbed.times = records_in_workers<GridPointTimes>(run, [&testbed](int point) {
    return simulate_point(testbed.points[static_cast<std::size_t>(point)], *testbed.inputs);
  });
  return testbed;
}

}  // namespace

Finding study_grid(const GridStudy& study) {
  const std::vector<Testbed> testbeds{
      simulate_testbed(
          {"A", &study.testbed_a, study.published_a, fsmoe_grid({512, 1024, 2048}), {}}, study),
      simulate_testbed({"B", &study.testbed_b, study.published_b, fsmoe_grid({256, 512, 1024}), {}},
                       study)};
  SectionWriter writer;
  write_reading(testbeds, writer);
  writer.say(fmt::format(
      "Average speed-up over Tutel; `tutel_improved` and `fsmoe_no_iio` are held to the published "
      "averages within {:.2f}. How the paper's grid is read, and the order of collectives where "
      "one communication runs at a time, were chosen with these averages in view (docs/model.md): "
      "agreement is consistent with the paper and no independent evidence.",
      kTolerance));
  write_averages(testbeds, writer);
  write_fsmoe(testbeds, writer);
  write_slices(testbeds, writer);
  write_degrees(testbeds.back(), writer);
  return std::move(writer).finish();
}

}  // namespace moesim::validation
