#include "kernels/cuda/step_timer.h"

#include <algorithm>

#include "kernels/cuda/launch.h"

namespace moesim {
namespace {

// With their events fewer than the launches that a stream holds before the host has to wait.
constexpr std::ptrdiff_t kBatch = 256;

// What the host takes for a launch and an event at most, as a rule. Chosen, not measured.
constexpr int64_t kLaunchNanoseconds = 20'000;

int64_t num_launches(const DeviceStep& step) {
  const auto* products = std::get_if<Products>(&step.action);
  return products == nullptr ? 1 : static_cast<int64_t>(products->products.size());
}

void record(const Event& event, cudaStream_t stream) {
  check_cuda(cudaEventRecord(event.get(), stream), "cudaEventRecord");
}

}  // namespace

StepTimer::StepTimer() {
  for (std::ptrdiff_t i = 0; i <= kBatch; ++i) {
    events_.push_back(make_event(EventKind::kTimed));
  }
}

void StepTimer::run(const StepLauncher& launcher,
                    const std::vector<DeviceStep>& steps,
                    const LaunchPlace& place) {
  const DeviceStep* end = steps.data() + steps.size();
  for (const DeviceStep* first = steps.data(); first != end;) {
    const DeviceStep* last = first + std::min(kBatch, end - first);
    run_batch(launcher, first, last, place);
    first = last;
  }
}

void StepTimer::run_batch(const StepLauncher& launcher,
                          const DeviceStep* first,
                          const DeviceStep* last,
                          const LaunchPlace& place) {
  int64_t launches = 0;
  std::for_each(first, last, [&](const DeviceStep& step) { launches += num_launches(step); });
  check_cuda(launch_spin(launches * kLaunchNanoseconds, place.stream), "launch_spin");
  auto event = events_.begin();
  record(*event, place.stream);
  for (const DeviceStep* step = first; step != last; ++step) {
    launcher.launch(*step, place);
    record(*++event, place.stream);
  }
  check_cuda(cudaStreamSynchronize(place.stream), "cudaStreamSynchronize");
  event = events_.begin();
  for (const DeviceStep* step = first; step != last; ++step, ++event) {
    add(*step, *event, *(event + 1));
  }
}

void StepTimer::add(const DeviceStep& step, const Event& begin, const Event& end) {
  KernelTime& time = by_name_[name_of(step.action)];
  ++time.count;
  time.total += elapsed(begin, end);
  time.bytes += step.work.bytes;
  time.flops += step.work.flops;
}

std::vector<KernelTime> StepTimer::times() const {
  std::vector<KernelTime> all;
  for (const auto& [name, time] : by_name_) {
    all.push_back(time);
    all.back().name = name;
  }
  return all;
}

}  // namespace moesim
