#include "sim/program/rank_classes.h"

#include <map>
#include <set>
#include <utility>

namespace moesim {
namespace {

// For each rank the set of classes in its instance of the group, as a number; kNone outside.
std::vector<int> neighbours(const Group& group, const std::vector<int>& class_of) {
  std::vector<int> result(class_of.size(), kNone);
  std::map<std::set<int>, int> numbers;
  for (const std::vector<int>& members : group.members) {
    std::set<int> classes;
    for (const int member : members) {
      classes.insert(class_of[member]);
    }
    const auto next = static_cast<int>(numbers.size());
    const int number = numbers.emplace(std::move(classes), next).first->second;
    for (const int member : members) {
      result[member] = number;
    }
  }
  return result;
}

int renumber(const std::vector<std::vector<int>>& signatures, std::vector<int>& class_of) {
  std::map<std::vector<int>, int> numbers;
  for (std::size_t rank = 0; rank < signatures.size(); ++rank) {
    const auto next = static_cast<int>(numbers.size());
    class_of[rank] = numbers.emplace(signatures[rank], next).first->second;
  }
  return static_cast<int>(numbers.size());
}

}  // namespace

RankClasses stable_rank_classes(const Program& program,
                                const RoleTable& roles,
                                const IssuedCollectives& issued) {
  std::set<int> groups;
  for (const auto& [communicator, by_role] : issued) {
    groups.insert(communicator.group);
  }
  RankClasses classes;
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    classes.class_of.push_back(roles.role_of(rank));
  }
  for (int num_classes = 0;;) {
    std::vector<std::vector<int>> signatures;
    for (const int old_class : classes.class_of) {
      signatures.push_back({old_class});
    }
    for (const int group : groups) {
      const std::vector<int> beside = neighbours(program.groups[group], classes.class_of);
      for (std::size_t rank = 0; rank < signatures.size(); ++rank) {
        signatures[rank].push_back(beside[rank]);
      }
    }
    const int num_refined = renumber(signatures, classes.class_of);
    if (num_refined == num_classes) {
      break;
    }
    num_classes = num_refined;
  }
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    if (classes.class_of[rank] == static_cast<int>(classes.representatives.size())) {
      classes.representatives.push_back(rank);
    }
  }
  return classes;
}

}  // namespace moesim
