#include "kernels/host/hang_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace moesim {
namespace {

std::string describe_meeting(const Program& program,
                             const HostScript& script,
                             int meeting,
                             const std::vector<bool>& arrived) {
  const Meeting& one = script.meetings[meeting];
  const std::vector<int>& members = script.members(program, meeting);
  std::vector<int> missing;
  std::string task;
  for (size_t member = 0; member < members.size(); ++member) {
    if (!arrived[member]) {
      missing.push_back(members[member]);
    } else if (task.empty()) {
      task = program.tasks[one.tasks[member]].name;
    }
  }
  return fmt::format(
      "collective '{}' of group '{}', instance {} (ranks {}): rank {} did not arrive",
      task,
      program.groups[one.group].name,
      one.instance,
      fmt::join(members, ", "),
      fmt::join(missing, ", "));
}

}  // namespace

std::string describe_hang(const Program& program,
                          const HostScript& script,
                          const Attendance& arrived) {
  constexpr size_t kMaxReasons = 5;
  std::vector<std::string> reasons;
  for (size_t i = 0; i < arrived.size() && reasons.size() < kMaxReasons; ++i) {
    const auto present = std::count(arrived[i].begin(), arrived[i].end(), true);
    if (present > 0 && present < static_cast<int64_t>(arrived[i].size())) {
      reasons.push_back(describe_meeting(program, script, static_cast<int>(i), arrived[i]));
    }
  }
  if (reasons.empty()) {
    reasons.emplace_back("its tasks wait for each other");
  }
  return fmt::format(
      "program '{}' hangs: {}; issue the collectives of each group and stream in the "
      "same order on all its ranks",
      program.name,
      fmt::join(reasons, "; "));
}

}  // namespace moesim
