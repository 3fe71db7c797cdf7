#include "calibration/gpu_samples.h"

#include <algorithm>
#include <iterator>

namespace moesim {

std::vector<GpuReading> accepted_readings(const std::vector<GpuProbes>& probes) {
  std::vector<GpuReading> readings;
  for (const GpuProbes& one : probes) {
    std::copy_if(one.readings.begin(),
                 one.readings.end(),
                 std::back_inserter(readings),
                 [](const GpuReading& reading) { return !reading.rejected; });
  }
  return readings;
}

void add_samples(const GpuReading& reading, double size, std::vector<Sample>& samples) {
  for (const Time time : reading.times) {
    samples.push_back({size, time.seconds()});
  }
}

}  // namespace moesim
