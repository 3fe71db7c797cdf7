#include "tests/property/cuda_runs.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/cuda/cuda_executor.h"
#include "kernels/device/arena_plan.h"
#include "kernels/host/host_executor.h"
#include "kernels/inputs.h"
#include "sim/program/role_table.h"

namespace moesim::testing {

TensorStore exact_inputs(const Program& program) {
  TensorStore tensors(program);
  fill_inputs(InputData::kInteger, tensors);
  return tensors;
}

TensorStore cpu_results(const Program& program) {
  TensorStore tensors = exact_inputs(program);
  HostOptions options;
  options.clock = HostClock::kRaw;
  options.rounding = Rounding::kExact;
  HostExecutor(program, options).run(tensors);
  return tensors;
}

TensorStore cuda_results(const Program& program, CudaOptions options) {
  TensorStore tensors = exact_inputs(program);
  options.rounding = Rounding::kExact;
  CudaExecutor(program, options).run(tensors);
  return tensors;
}

std::string first_difference(const TensorStore& actual,
                             const TensorStore& expected,
                             bool only_results) {
  const Program& program = expected.program();
  const std::vector<bool> is_kept = inputs_and_results(program);
  for (const int rank : expected.ranks()) {
    for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
      const auto left = actual.contents(rank, tensor);
      const auto right = expected.contents(rank, tensor);
      if ((is_kept[static_cast<size_t>(tensor)] || !only_results) &&
          !std::equal(left.begin(), left.end(), right.begin(), right.end())) {
        return fmt::format(
            "rank {}, tensor '{}'", rank, program.tensors[static_cast<size_t>(tensor)].name);
      }
    }
  }
  return "";
}

}  // namespace moesim::testing
