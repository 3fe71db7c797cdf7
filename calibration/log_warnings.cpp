#include "calibration/log_warnings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include <fmt/core.h>

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

// At the size where the two are furthest apart.
struct Apart {
  std::int64_t bytes = 0;
  double factor = 1;  // of the second's time to the first's, or the other way about
};

Apart furthest_apart(const NcclRun& a, const NcclRun& b) {
  std::map<std::int64_t, double> seconds_of;
  for (const NcclRow& row : a.rows) {
    seconds_of.emplace(row.bytes, row.seconds());
  }
  Apart apart;
  for (const NcclRow& row : b.rows) {
    const auto found = seconds_of.find(row.bytes);
    if (found == seconds_of.end()) {
      continue;
    }
    const double factor = row.seconds() / found->second;
    const double larger = std::max(factor, 1 / factor);
    if (larger > apart.factor) {
      apart = {row.bytes, larger};
    }
  }
  return apart;
}

void add_disagreement(const Test& a, const Test& b, std::vector<std::string>& warnings) {
  if (a.run->collective != b.run->collective || a.run->layout != b.run->layout) {
    return;
  }
  const Apart apart = furthest_apart(*a.run, *b.run);
  if (apart.factor > kMostApart) {
    warnings.push_back(
        fmt::format("{} in {} and in {}: times of {} bytes differ by a factor of {:.1f}; "
                    "leave out the log that is not of this machine",
                    name_of(a),
                    visible_in_line(*a.path),
                    visible_in_line(*b.path),
                    apart.bytes,
                    apart.factor));
  }
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
