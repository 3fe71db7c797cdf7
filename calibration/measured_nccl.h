#pragma once

#include <string>

#include "calibration/nccl_log.h"

namespace moesim {

// Figures of nccl-tests logs that were published, kept as tables of sizes and times.
struct MeasuredNccl {
  std::string source;  // who measured and published them
  std::string machine;
  NcclLog log;  // its path is that of the file
};

// Reads {"source", "machine", "runs": [{"collective", "nodes", "gpus_per_node", "environment": [],
// "rows": [[bytes, out of place us, in place us], ...]}]}; a time that is not there is null.
// Bandwidths follow from the times. Throws Error located at a field.
MeasuredNccl parse_measured_nccl(const std::string& path, const std::string& text);

}  // namespace moesim
