#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/cli/validate/boards.h"
#include "sim/cli/validate/grid_point_times.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/published_models.h"
#include "sim/cli/validate/sections.h"

namespace moesim::validation {
namespace {

// FSMoE, and Tutel beside it, as the grid's study runs them.
struct Pair {
  GridRunIndex fsmoe;
  GridRunIndex tutel;
};
constexpr std::array kPairs{Pair{kFsmoe, kTutel},
                            Pair{kFsmoePaper, kTutelPaper},
                            Pair{kFsmoeOneQueue, kTutelOneQueue},
                            Pair{kFsmoeOneQueuePaper, kTutelOneQueuePaper}};
constexpr std::size_t kAuthors = 3;  // the authors' script asks for one queue and their policy
using Speedups = std::array<double, kPairs.size()>;

// One board as a row of the table. Boards on which traffic gets into its own way alike share a
// case; kNone: nothing is shared.
struct Row {
  const Board* board = nullptr;
  ByCollective of_measured{};  // what links alone would take of the measured time
  double fullest = 0;
  int private_case = kNone;
  int shared_case = kNone;
  std::string shared_part;

  // How far the links alone are from the measured times: root mean square of the logarithms.
  double distance() const {
    double sum = 0;
    for (const double ratio : of_measured) {
      sum += std::log(ratio) * std::log(ratio);
    }
    return std::sqrt(sum / static_cast<double>(of_measured.size()));
  }
  // Links cannot be slower than what was measured on them.
  bool is_possible() const {
    constexpr double kAccuracy = 1.05;
    return *std::ranges::max_element(of_measured) <= kAccuracy;
  }
};

struct Testbed {
  std::string name;
  double published = 0;  // FSMoE over Tutel
  std::vector<GridPoint> points;
  std::vector<Board> boards;
  std::vector<Row> rows;  // by board

  // The first board of each; in the first case nothing is delayed.
  struct Case {
    Inputs inputs;
    bool alone_is_slower = false;
    Speedups speedups{};  // means over the points
  };
  std::vector<Case> cases;
};

Testbed testbed_of(const std::string& name, const Inputs& inputs, std::vector<GridPoint> points) {
  Testbed testbed;
  testbed.name = name;
  testbed.points = std::move(points);
  testbed.boards = boards_of(inputs);
  std::map<std::string, int> known;
  const auto case_of = [&](const Inputs& on_board) {
    const Conflict conflict = conflict_on(on_board);
    const auto [found, is_new] =
        known.try_emplace(conflict.pattern, static_cast<int>(testbed.cases.size()));
    if (is_new) {
      testbed.cases.push_back({.inputs = on_board, .alone_is_slower = conflict.alone});
    }
    return found->second;
  };
  Inputs free = with_private_bottlenecks(testbed.boards.front());
  free.cluster.links.reset();
  known[""] = 0;
  testbed.cases.push_back({.inputs = std::move(free)});
  for (const Board& board : testbed.boards) {
    Row& row = testbed.rows.emplace_back();
    row.board = &board;
    row.of_measured = by_links(board);
    const ByCollective measured = measured_of(board.testbed);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      row.of_measured[i] /= measured[i];
    }
    const Inputs of_its_own = with_private_bottlenecks(board);
    row.fullest = conflict_on(of_its_own).fullest;
    row.private_case = case_of(of_its_own);
    if (const auto shared = with_shared_bottleneck(board)) {
      row.shared_case = case_of(shared->testbed);
      row.shared_part = shared->part;
    }
  }
  return testbed;
}

// Seconds of a layer, by pair.
struct PairSeconds {
  std::array<double, kPairs.size()> fsmoe{};
  std::array<double, kPairs.size()> tutel{};
};

// Tutel has one communication at a time: a board matters to it only where one alone is slower.
PairSeconds simulate(const Testbed::Case& of, bool is_first, const GridPoint& point) {
  PairSeconds seconds;
  for (std::size_t i = 0; i < kPairs.size(); ++i) {
    seconds.fsmoe[i] = layer_seconds(kGridRuns[kPairs[i].fsmoe], point, of.inputs);
    if (is_first || of.alone_is_slower) {
      seconds.tutel[i] = layer_seconds(kGridRuns[kPairs[i].tutel], point, of.inputs);
    }
  }
  return seconds;
}

void simulate_cases(Testbed& testbed, int num_workers) {
  const std::size_t num_points = testbed.points.size();
  const WorkerRun run{"points on boards of testbed " + testbed.name,
                      static_cast<int>(testbed.cases.size() * num_points),
                      num_workers};
  const auto seconds = records_in_workers<PairSeconds>(run, [&](int i) {
    const auto number = static_cast<std::size_t>(i);
    return simulate(testbed.cases[number / num_points],
                    number < num_points,
                    testbed.points[number % num_points]);
  });
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    Testbed::Case& of = testbed.cases[i / num_points];
    const PairSeconds& tutel = of.alone_is_slower ? seconds[i] : seconds[i % num_points];
    for (std::size_t pair = 0; pair < kPairs.size(); ++pair) {
      of.speedups[pair] +=
          tutel.tutel[pair] / seconds[i].fsmoe[pair] / static_cast<double>(num_points);
    }
  }
}

std::string cell(const Testbed& testbed, int of_case) {
  return of_case == kNone
             ? ""
             : fmt::format(
                   "{:.3f}",
                   fmt::join(testbed.cases[static_cast<std::size_t>(of_case)].speedups, " "));
}

void write_table(const Testbed& testbed, SectionWriter& writer) {
  writer.say(fmt::format("Testbed {}, published {:.2f}; {} of the 486 points.",
                         testbed.name,
                         testbed.published,
                         testbed.points.size()));
  Table table({"Layout",
               "GPUDirect",
               "peer access",
               "A2A AR AG RS by links, % of measured",
               "fullest link",
               "private: 32 search, 32 paper, 1 search, 1 paper",
               "shared: likewise",
               "shared on"});
  for (const Row& row : testbed.rows) {
    ByCollective percents = row.of_measured;
    for (double& percent : percents) {
      percent *= 100;
    }
    table.add({layout_name(row.board->choice),
               row.board->choice.gpudirect ? "yes" : "no",
               row.board->choice.peer_access ? "yes" : "no",
               fmt::format("{:.0f}{}", fmt::join(percents, " "), row.is_possible() ? "" : " (!)"),
               fmt::format("{:.2f}", row.fullest),
               cell(testbed, row.private_case),
               cell(testbed, row.shared_case),
               row.shared_part});
  }
  writer.add(table);
}

// The boards whose links alone come nearest to what was measured of single collectives: nothing
// else is looked at. Several only where they are equally near.
std::vector<const Row*> preferred(const Testbed& testbed) {
  double least = std::numeric_limits<double>::infinity();
  for (const Row& row : testbed.rows) {
    if (row.is_possible()) {
      least = std::min(least, row.distance());
    }
  }
  std::vector<const Row*> nearest;
  for (const Row& row : testbed.rows) {
    if (row.is_possible() && row.distance() <= least * (1 + 1e-9)) {
      nearest.push_back(&row);
    }
  }
  return nearest;
}

void write_preferred(const Testbed& testbed, SectionWriter& writer) {
  const std::vector<const Row*> rows = preferred(testbed);
  std::string names;
  for (const Row* row : rows) {
    const BoardChoice& choice = row->board->choice;
    names += fmt::format("{}\"{}\" {} GPUDirect and {} peer access",
                         names.empty() ? "" : ", ",
                         layout_name(choice),
                         choice.gpudirect ? "with" : "without",
                         choice.peer_access ? "with" : "without");
  }
  const Speedups& speedups =
      testbed.cases[static_cast<std::size_t>(rows.front()->private_case)].speedups;
  writer.say(fmt::format(
      "Preferred on testbed {}, because their links alone come nearest to the single collectives "
      "(root mean square of the logarithms {:.2f}) and none is slower than measured by more than 5 "
      "%: {}. There FSMoE is {:.3f} times as fast as Tutel with the authors' queue and policy, "
      "published {:.2f}.",
      testbed.name,
      rows.front()->distance(),
      names,
      speedups[kAuthors],
      testbed.published));
}

std::vector<GridPoint> every(int stride, const std::vector<GridPoint>& grid) {
  std::vector<GridPoint> points;
  for (std::size_t i = 0; i < grid.size(); i += static_cast<std::size_t>(stride)) {
    points.push_back(grid[i]);
  }
  return points;
}

void write_reading(SectionWriter& writer) {
  writer.say(
      "The paper does not print how the testbeds' nodes are wired, and its grid's FSMoE is slower "
      "than streams that never slow each other make it (section `grid`). Here the nodes are "
      "graphs: "
      "GPUs at root ports or behind PCIe switches, the NIC apart or at the first switch, with and "
      "without GPUDirect (else between nodes all goes through host memory) and peer access (else "
      "within a node all but NVLink does). Links have their line rates. Collectives take the times "
      "that the paper fitted, and put their bytes on the links of their ways.");
  writer.say(
      "*By links*: what links alone would make of the fitted time per byte of AlltoAll, AllReduce, "
      "AllGather and ReduceScatter; (!) where that is slower than measured by more than 5 %, so "
      "that "
      "the board cannot be. *Fullest link*: its use while one collective between nodes and one "
      "within a node each go on as fast as alone; above 1 they slow each other, at 2 overlapping "
      "them gains nothing. *Private*: what a collective takes beyond its links is its own. "
      "*Shared*: "
      "its whole time is spent on the part of the node that AlltoAll and AllGather both cross and "
      "fill most; one of the two would have to be measured beside the other to tell. Speed-ups of "
      "FSMoE over Tutel, means over layers, both with the same number of hardware queues (32, 1) "
      "and "
      "the same policy (search, paper). Every seventh point of the grid: without a link that is "
      "too "
      "full, the means are within 0.002 of those of all points on testbed A (section `grid`). "
      "Nothing "
      "here is fitted to a speed-up; all of it *rests on assumptions*, and is held to no bar.");
}

}  // namespace

Finding study_boards(const BoardsStudy& study) {
  SectionWriter writer;
  write_reading(writer);
  Testbed a = testbed_of("A", study.testbed_a, every(study.stride, fsmoe_grid({512, 1024, 2048})));
  Testbed b = testbed_of("B", study.testbed_b, every(study.stride, fsmoe_grid({256, 512, 1024})));
  a.published = study.published_a;
  b.published = study.published_b;
  for (Testbed* testbed : {&a, &b}) {
    simulate_cases(*testbed, study.num_workers);
    write_table(*testbed, writer);
  }
  for (Testbed* testbed : {&a, &b}) {
    write_preferred(*testbed, writer);
  }
  write_published_models({study.gpt2xl_a,
                          study.testbed_a,
                          study.gpt2xl_b,
                          preferred(a).front()->board->choice,
                          preferred(b).front()->board->choice},
                         writer);
  return std::move(writer).finish();
}

}  // namespace moesim::validation
