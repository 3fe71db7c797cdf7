#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/cli/validate/boards.h"
#include "sim/cli/validate/grid_point_times.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/sections.h"

namespace moesim::validation {
namespace {

// FSMoE, and Tutel beside it, as the grid's study runs them.
struct Pair {
  const char* name;
  GridRunIndex fsmoe;
  GridRunIndex tutel;
};
constexpr std::array kPairs{Pair{"32, search", kFsmoe, kTutel},
                            Pair{"32, paper", kFsmoePaper, kTutelPaper},
                            Pair{"1, search", kFsmoeOneQueue, kTutelOneQueue},
                            Pair{"1, paper", kFsmoeOneQueuePaper, kTutelOneQueuePaper}};
using Speedups = std::array<double, kPairs.size()>;

// A testbed, and the ways in which its boards' traffic gets into its own way: of boards that are
// alike in this, the first stands for all.
struct Testbed {
  std::string name;
  std::vector<Board> boards;
  ByCollective measured{};
  std::vector<GridPoint> points;
  double published = 0;
  std::map<std::string, int> number_of;  // conflict patterns
  std::vector<Inputs> cases;
  std::vector<Speedups> speedups;  // by case: mean over the points
};

int case_of(const Inputs& inputs, Testbed& testbed) {
  const auto [found, is_new] = testbed.number_of.try_emplace(
      conflict_on(inputs).pattern, static_cast<int>(testbed.cases.size()));
  if (is_new) {
    testbed.cases.push_back(inputs);
  }
  return found->second;
}

// One board as a row of the table: its cases, kNone where nothing is shared.
struct Row {
  const Board* board = nullptr;
  ByCollective by_links{};
  int private_case = kNone;
  int shared_case = kNone;
  double fullest = 0;
  std::string part;
};

std::vector<Row> rows_of(Testbed& testbed) {
  std::vector<Row> rows;
  for (const Board& board : testbed.boards) {
    Row& row = rows.emplace_back();
    row.board = &board;
    row.by_links = by_links(board);
    const Inputs of_its_own = with_private_bottlenecks(board);
    row.private_case = case_of(of_its_own, testbed);
    row.fullest = conflict_on(of_its_own).fullest;
    if (const auto shared = with_shared_bottleneck(board)) {
      row.shared_case = case_of(shared->testbed, testbed);
      row.part = shared->part;
    }
  }
  return rows;
}

void simulate_cases(Testbed& testbed, int num_workers) {
  const int num_points = static_cast<int>(testbed.points.size());
  const int num_cases = static_cast<int>(testbed.cases.size());
  const std::vector<Speedups> ratios = records_in_workers<Speedups>(
      {"boards of testbed " + testbed.name, num_cases * num_points, num_workers}, [&](int i) {
        const Inputs& inputs = testbed.cases[static_cast<std::size_t>(i / num_points)];
        const GridPoint& point = testbed.points[static_cast<std::size_t>(i % num_points)];
        Speedups ratio{};
        for (std::size_t pair = 0; pair < kPairs.size(); ++pair) {
          ratio[pair] = layer_seconds(kGridRuns[kPairs[pair].tutel], point, inputs) /
                        layer_seconds(kGridRuns[kPairs[pair].fsmoe], point, inputs);
        }
        return ratio;
      });
  for (int i = 0; i < num_cases; ++i) {
    Speedups& mean = testbed.speedups.emplace_back();
    for (int point = 0; point < num_points; ++point) {
      for (std::size_t pair = 0; pair < kPairs.size(); ++pair) {
        mean[pair] += ratios[static_cast<std::size_t>(i * num_points + point)][pair] / num_points;
      }
    }
  }
}

std::string percent(double ratio) {
  return fmt::format("{:.0f} %", 100 * ratio);
}

std::string cell(const Testbed& testbed, int of_case) {
  if (of_case == kNone) {
    return "nothing shared";
  }
  const Speedups& speedups = testbed.speedups[static_cast<std::size_t>(of_case)];
  return fmt::format("{:.3f}", fmt::join(speedups, " / "));
}

void write_table(const Testbed& testbed, const std::vector<Row>& rows, SectionWriter& writer) {
  Table table({"Layout",
               "GPUDirect",
               "peer access",
               "AlltoAll",
               "AllReduce",
               "AllGather",
               "ReduceScatter",
               "fullest link",
               "private",
               "shared",
               "shared part"});
  for (const Row& row : rows) {
    std::vector<std::string> cells{row.board->layout,
                                   row.board->gpudirect ? "yes" : "no",
                                   row.board->peer_access ? "yes" : "no"};
    for (std::size_t i = 0; i < row.by_links.size(); ++i) {
      cells.push_back(percent(row.by_links[i] / testbed.measured[i]));
    }
    cells.push_back(fmt::format("{:.2f}", row.fullest));
    cells.push_back(cell(testbed, row.private_case));
    cells.push_back(cell(testbed, row.shared_case));
    cells.push_back(row.part);
    table.add(cells);
  }
  writer.add(table);
}

}  // namespace

Finding study_boards(const BoardsStudy& study) {
  SectionWriter writer;
  for (const auto& [name, inputs, sequences, published] :
       {std::tuple{"A", &study.testbed_a, std::array{512, 1024, 2048}, 1.18},
        std::tuple{"B", &study.testbed_b, std::array{256, 512, 1024}, 1.22}}) {
    Testbed testbed;
    testbed.name = name;
    testbed.boards = boards_of(*inputs);
    testbed.measured = measured_of(*inputs);
    testbed.published = published;
    const std::vector<GridPoint> all = fsmoe_grid(sequences);
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(study.stride)) {
      testbed.points.push_back(all[i]);
    }
    const std::vector<Row> rows = rows_of(testbed);
    simulate_cases(testbed, study.num_workers);
    writer.say(fmt::format("Testbed {}: {} cases", name, testbed.cases.size()));
    write_table(testbed, rows, writer);
  }
  return std::move(writer).finish();
}

}  // namespace moesim::validation
