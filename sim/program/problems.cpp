#include "sim/program/problems.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace moesim {

void Problems::add(ProblemKind kind, std::vector<int> tasks, int subject, std::string message) {
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  if (!full() && known_.emplace(kind, tasks, subject).second) {
    list_.push_back({kind, std::move(tasks), std::move(message)});
  }
}

std::string Problems::name(int task) const {
  return fmt::format("'{}'", program_->tasks[task].name);
}

}  // namespace moesim
