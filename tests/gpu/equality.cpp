// Every schedule on a real GPU beside the CPU backend: all buffers equal, bit for bit. Exit code 77
// without a GPU, so that ctest skips it.
#include <exception>

#include <fmt/core.h>

#include "kernels/cuda/cuda_executor.h"
#include "sim/base/error.h"
#include "sim/schedule/schedule.h"
#include "tests/property/cuda_runs.h"
#include "tests/property/equality_model.h"

namespace moesim {
namespace {

constexpr int kSkipped = 77;

struct Way {
  const char* name;
  CudaOptions options;
  bool only_results;
};

int run() {
  const Way ways[] = {{"each tensor in memory of its own", {.keeps_all = true}, false},
                      {"tensors in an arena", {}, true},
                      {"one graph", {.uses_graph = true}, true}};
  int num_different = 0;
  for (const std::string& schedule : schedule_names()) {
    const Program program = testing::two_chunks(schedule, testing::equality_model());
    const TensorStore expected = testing::cpu_results(program);
    for (const Way& way : ways) {
      const std::string difference = testing::first_difference(
          testing::cuda_results(program, way.options), expected, way.only_results);
      num_different += difference.empty() ? 0 : 1;
      fmt::print("{}, {}: {}\n",
                 schedule,
                 way.name,
                 difference.empty() ? "equal" : "differs in " + difference);
    }
  }
  return num_different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace moesim

int main() {
  if (moesim::count_devices() == 0) {
    fmt::print("no CUDA device: skipped\n");
    return moesim::kSkipped;
  }
  try {
    return moesim::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
