#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/base/check.h"
#include "sim/cli/validate/finding.h"

namespace moesim::validation {

// What to run, how often, and in how many processes. `things` names the indices on a terminal.
struct WorkerRun {
  std::string things;
  int count = 0;
  int num_workers = 1;
};

// The results of work(0), work(1), … by index, each made in a worker process (worker_pool.h).
std::vector<std::string> in_workers(const WorkerRun& run,
                                    const std::function<std::string(int)>& work);

// The same for plain values.
template <typename Record>
std::vector<Record> records_in_workers(const WorkerRun& run,
                                       const std::function<Record(int)>& work) {
  static_assert(std::is_trivially_copyable_v<Record>);
  const auto to_bytes = [&work](int index) {
    const Record record = work(index);
    std::string bytes(sizeof record, '\0');
    std::memcpy(bytes.data(), &record, sizeof record);
    return bytes;
  };
  std::vector<Record> records;
  for (const std::string& bytes : in_workers(run, to_bytes)) {
    CHECK(bytes.size() == sizeof(Record));
    std::memcpy(&records.emplace_back(), bytes.data(), sizeof(Record));
  }
  return records;
}

// A study that needs no more than one process.
Finding in_a_worker(const std::function<Finding()>& study);

}  // namespace moesim::validation
