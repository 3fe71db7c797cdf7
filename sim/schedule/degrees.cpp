#include "sim/schedule/degrees.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {

Degrees Degrees::uniform(int layers, int forward, int backward, int non_moe) {
  CHECK(layers > 0 && forward > 0 && backward > 0 && non_moe > 0);
  const auto count = static_cast<size_t>(layers);
  return {std::vector<int>(count, forward), std::vector<int>(count, backward), non_moe};
}

bool is_given(const std::optional<int>& degree, const std::vector<int>& per_layer) {
  return degree.has_value() || !per_layer.empty();
}

Degrees with_given(Degrees degrees, const DegreeConfig& given) {
  if (given.forward) {
    std::fill(degrees.forward.begin(), degrees.forward.end(), *given.forward);
  }
  if (given.backward) {
    std::fill(degrees.backward.begin(), degrees.backward.end(), *given.backward);
  }
  if (!given.forward_per_layer.empty()) {
    degrees.forward = given.forward_per_layer;
  }
  if (!given.backward_per_layer.empty()) {
    degrees.backward = given.backward_per_layer;
  }
  degrees.non_moe = given.non_moe.value_or(degrees.non_moe);
  return degrees;
}

Degrees built_degrees(const Program& program, Degrees degrees) {
  std::fill(degrees.forward.begin(), degrees.forward.end(), 0);
  std::fill(degrees.backward.begin(), degrees.backward.end(), 0);
  for (const Task& task : program.tasks) {
    if (task.micro_batch > 0) {
      continue;  // all are cut alike
    }
    if (task.kind == task_kind::kExpert && task.pass == Pass::kForward) {
      ++degrees.forward.at(static_cast<size_t>(task.layer));
    } else if (task.kind == task_kind::kExpert && task.pass == Pass::kBackward) {
      ++degrees.backward.at(static_cast<size_t>(task.layer));
    }
  }
  return degrees;
}

}  // namespace moesim
