#pragma once

#include <chrono>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {

// Another process has said nothing for so long. Exit code 1.
class Silence : public Failure {
 public:
  Silence(int process, int num_processes, std::chrono::seconds silence)
      : Failure(fmt::format(
            "process {} of {} has not been heard of for {} s; it died, hangs or was cut off",
            process,
            num_processes,
            silence.count())),
        process_(process) {}

  [[nodiscard]] int process() const { return process_; }

 private:
  int process_;
};

}  // namespace moesim
