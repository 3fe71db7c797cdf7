#include "sim/cli/validate/in_workers.h"

#include <charconv>
#include <numeric>

#include "sim/cli/progress.h"
#include "sim/cli/worker_pool.h"

namespace moesim::validation {

std::vector<std::string> in_workers(const WorkerRun& run,
                                    const std::function<std::string(int)>& work) {
  std::vector<std::string> results(static_cast<std::size_t>(run.count));
  std::vector<int> indices(results.size());
  std::iota(indices.begin(), indices.end(), 0);
  Progress progress(run.things, run.count);
  run_in_workers({.indices = indices,
                  .work = work,
                  .done =
                      [&](int index, const std::string& result) {
                        results[static_cast<std::size_t>(index)] = result;
                        progress.add_one();
                      }},
                 run.num_workers);
  return results;
}

Finding in_a_worker(const std::function<Finding()>& study) {
  const auto to_text = [&study](int) {
    const Finding finding = study();
    return std::to_string(finding.num_misses) + '\n' + finding.text;
  };
  const std::string text = in_workers({"study", 1, 1}, to_text).front();
  const std::size_t line_end = text.find('\n');
  Finding finding{text.substr(line_end + 1), 0};
  std::from_chars(text.data(), text.data() + line_end, finding.num_misses);
  return finding;
}

}  // namespace moesim::validation
