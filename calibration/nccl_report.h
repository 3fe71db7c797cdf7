#pragma once

#include <string>
#include <vector>

#include "calibration/nccl_profile.h"

namespace moesim {

// What a calibration from logs is worth: of each collective the fit, its start-up and the residual
// of every size; then what was dropped, with file, line and reason.
std::string nccl_report(const NcclCalibration& calibration, const std::vector<NcclLog>& logs);

}  // namespace moesim
