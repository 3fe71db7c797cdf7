#include "sim/program/communicators.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace moesim {
namespace {

const Collective& collective_of(const Program& program, int task) {
  return std::get<Collective>(program.tasks[task].descriptor);
}

// Where all members do the same, they move the same data: one tensor at the same rows or, where
// the roles have tensors of their own, data of the same kind, layer, pass and chunk.
bool same_data(const Task& left, const Task& right) {
  bool one_tensor = !left.reads.empty() && left.reads.size() == right.reads.size();
  for (std::size_t i = 0; one_tensor && i < left.reads.size(); ++i) {
    one_tensor = left.reads[i].tensor == right.reads[i].tensor;
  }
  if (one_tensor) {
    return left.reads == right.reads;
  }
  const bool labelled = left.layer != kNone && right.layer != kNone;
  return !labelled || (left.kind == right.kind && left.layer == right.layer &&
                       left.pass == right.pass && left.chunk == right.chunk);
}

// What keeps two tasks from being one collective, or nullptr.
const char* difference(const Program& program, int left_task, int right_task) {
  const Collective& left = collective_of(program, left_task);
  const Collective& right = collective_of(program, right_task);
  if (left.operation != right.operation) {
    return "their operations differ";
  }
  if (left.bytes != right.bytes) {
    return "their bytes differ";
  }
  if (left.root != right.root) {
    return "their roots differ";
  }
  if (left.distance != right.distance || left.wrap != right.wrap) {
    return "their distances differ";
  }
  if (left.routing != right.routing) {
    return "their routings differ";
  }
  const bool symmetric = left.operation != CollectiveOperation::kShift &&
                         left.operation != CollectiveOperation::kBroadcast;
  if (symmetric && left_task != right_task &&
      !same_data(program.tasks[left_task], program.tasks[right_task])) {
    return "they move different data";
  }
  return nullptr;
}

// Compares what two roles issue on one communicator.
class PairCheck {
 public:
  PairCheck(const Program& program,
            const RoleTable& roles,
            const Communicator& communicator,
            Problems& problems)
      : program_(program), roles_(roles), communicator_(communicator), problems_(problems) {}

  bool matches(const std::vector<std::vector<int>>& issued, int left_role, int right_role) {
    const std::vector<int>& left = issued[left_role];
    const std::vector<int>& right = issued[right_role];
    const std::size_t num_both = std::min(left.size(), right.size());
    for (std::size_t i = 0; i < num_both; ++i) {
      if (const char* why = difference(program_, left[i], right[i])) {
        report({left[i], right[i]},
               fmt::format("{}{} meets {}{} as number {}, but {}",
                           problems_.name(left[i]),
                           roles_.where(program_, left_role),
                           problems_.name(right[i]),
                           roles_.where(program_, right_role),
                           i + 1,
                           why));
        return false;
      }
    }
    if (left.size() > num_both) {
      report_alone(left, right, left_role, right_role);
    } else if (right.size() > num_both) {
      report_alone(right, left, right_role, left_role);
    }
    return left.size() == right.size();
  }

 private:
  void report_alone(const std::vector<int>& longer,
                    const std::vector<int>& shorter,
                    int longer_role,
                    int shorter_role) {
    std::vector<int> tasks = {longer[shorter.size()]};
    std::string last = "none";
    if (!shorter.empty()) {
      tasks.push_back(shorter.back());
      last = problems_.name(shorter.back()) + " as the last";
    }
    report(tasks,
           fmt::format("{}{} is number {}, but{} members issue {}, {}",
                       problems_.name(longer[shorter.size()]),
                       roles_.where(program_, longer_role),
                       shorter.size() + 1,
                       roles_.where(program_, shorter_role),
                       shorter.size(),
                       last));
  }

  void report(std::vector<int> tasks, const std::string& what) {
    problems_.add(ProblemKind::kMismatchedCollective,
                  std::move(tasks),
                  communicator_.group,
                  fmt::format("collectives of group '{}' on stream '{}' do not match: {}",
                              program_.groups[communicator_.group].name,
                              program_.streams[communicator_.stream],
                              what));
  }

  const Program& program_;
  const RoleTable& roles_;
  Communicator communicator_;
  Problems& problems_;
};

}  // namespace

IssuedCollectives issued_collectives(const Program& program, const RoleTable& roles) {
  IssuedCollectives issued;
  for (int index = 0; index < static_cast<int>(program.tasks.size()); ++index) {
    const Task& task = program.tasks[index];
    if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
      auto& by_role = issued[{collective->group, task.stream}];
      by_role.resize(roles.size());
      for (const int role : roles.running(task)) {
        by_role[role].push_back(index);
      }
    }
  }
  return issued;
}

bool check_matching(const Program& program,
                    const RoleTable& roles,
                    const IssuedCollectives& issued,
                    Problems& problems) {
  bool all_match = true;
  for (const auto& [communicator, by_role] : issued) {
    PairCheck check(program, roles, communicator, problems);
    std::set<std::pair<int, int>> done;
    for (const std::vector<int>& members : program.groups[communicator.group].members) {
      for (const int member : members) {
        const auto [left, right] =
            std::minmax({roles.role_of(members.front()), roles.role_of(member)});
        if (left != right && done.emplace(left, right).second) {
          all_match = check.matches(by_role, left, right) && all_match;
        }
      }
    }
  }
  return all_match;
}

void check_collectives(const Program& program, int hardware_queues, Problems& problems) {
  const RoleTable roles(program);
  if (roles.size() <= 1) {
    return;  // one launch order for all ranks: everything matches, and order leads forward only
  }
  const IssuedCollectives issued = issued_collectives(program, roles);
  if (check_matching(program, roles, issued, problems)) {
    check_deadlock(program, roles, issued, hardware_queues, problems);
  }
}

}  // namespace moesim
