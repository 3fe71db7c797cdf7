#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace moesim {

// The SMs' clock as the driver's management library (NVML) tells it. The library belongs to the
// driver and is looked for when the program runs; where it is not found there is no clock.
class GpuClock {
 public:
  // Of the GPU at that place on the PCI bus.
  explicit GpuClock(const std::string& pci_bus_id);

  std::optional<double> hertz() const;

 private:
  std::shared_ptr<void> library_;
  std::function<std::optional<double>()> read_;
};

}  // namespace moesim
