#include "calibration/log_warnings.h"

#include <cstddef>
#include <cstdint>
#include <map>

#include <fmt/core.h>

#include "calibration/robust_fit.h"
#include "sim/base/message.h"

namespace moesim {
namespace {

constexpr double kMostApart = 2;  // what settings and other users of a machine rarely do

struct Test {
  const std::string* path;
  const NcclRun* run;
};

std::vector<Test> tests_of(const std::vector<NcclLog>& logs) {
  std::vector<Test> tests;
  for (const NcclLog& log : logs) {
    for (const NcclRun& run : log.runs) {
      tests.push_back({&log.path, &run});
    }
  }
  return tests;
}

std::string name_of(const Test& test) {
  return fmt::format("{} on {}", test.run->collective, to_string(test.run->layout));
}

// Two tests at the size where they are furthest apart.
struct Apart {
  const NcclRow* fast = nullptr;
  const NcclRow* slow = nullptr;
  bool is_first_faster = false;

  [[nodiscard]] double factor() const {
    return fast == nullptr ? 1 : slow->seconds() / fast->seconds();
  }
};

Apart furthest_apart(const NcclRun& first, const NcclRun& second) {
  std::map<std::int64_t, const NcclRow*> row_of;
  for (const NcclRow& row : first.rows) {
    row_of.emplace(row.bytes, &row);
  }
  Apart most;
  for (const NcclRow& row : second.rows) {
    const auto found = row_of.find(row.bytes);
    if (found == row_of.end()) {
      continue;
    }
    const bool is_first_faster = found->second->seconds() < row.seconds();
    const Apart here =
        is_first_faster ? Apart{found->second, &row, true} : Apart{&row, found->second, false};
    if (here.factor() > most.factor()) {
      most = here;
    }
  }
  return most;
}

void add_disagreement(const Test& first, const Test& second, std::vector<std::string>& warnings) {
  if (first.run->collective != second.run->collective || first.run->layout != second.run->layout) {
    return;
  }
  const Apart apart = furthest_apart(*first.run, *second.run);
  if (apart.factor() <= 1 + kWorstResidual) {
    return;
  }
  const Test& fast = apart.is_first_faster ? first : second;
  const Test& slow = apart.is_first_faster ? second : first;
  warnings.push_back(fmt::format(
      "{}: {} bytes took {:.2f} times as long at {}:{} as at {}:{}; the profile takes the median "
      "of "
      "all, of two the shorter time{}",
      name_of(first),
      apart.fast->bytes,
      apart.factor(),
      visible_in_line(*slow.path),
      apart.slow->line,
      visible_in_line(*fast.path),
      apart.fast->line,
      apart.factor() > kMostApart ? "; leave out the log that is not of this machine" : ""));
}

}  // namespace

std::vector<std::string> log_warnings(const Cluster& cluster, const std::vector<NcclLog>& logs) {
  const std::vector<Test> tests = tests_of(logs);
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].run->layout.nodes > cluster.num_nodes) {
      warnings.push_back(
          fmt::format("{} in {}, but cluster '{}' has {} nodes; give the cluster that it ran on",
                      name_of(tests[i]),
                      visible_in_line(*tests[i].path),
                      visible_in_line(cluster.name),
                      cluster.num_nodes));
    }
    for (std::size_t j = 0; j < i; ++j) {
      add_disagreement(tests[j], tests[i], warnings);
    }
  }
  return warnings;
}

}  // namespace moesim
