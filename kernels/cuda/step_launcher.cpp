#include "kernels/cuda/step_launcher.h"

#include <algorithm>
#include <variant>

#include "kernels/cuda/device_pointer.h"
#include "kernels/cuda/launch.h"
#include "sim/base/check.h"

namespace moesim {

StepLauncher::StepLauncher(int sm_target, FusedAttentionEngine* attention)
    : cublas_(make_cublas()), sm_target_(sm_target), attention_(attention) {}

StepLauncher::StepLauncher(const DeviceProgram& program,
                           int sm_target,
                           FusedAttentionEngine* attention)
    : StepLauncher(sm_target, attention) {
  for (const auto& rank : program.tasks) {
    for (const std::vector<DeviceStep>& steps : rank) {
      prepare(steps);
    }
  }
}

void StepLauncher::prepare(const std::vector<DeviceStep>& steps) {
  for (const DeviceStep& step : steps) {
    if (const auto* products = std::get_if<Products>(&step.action)) {
      for (const Product& product : products->products) {
        const ProductShape shape(product);
        if (!plans_.contains(shape)) {
          plans_.emplace(shape, ProductPlan(cublas_.get(), shape, sm_target_));
        }
      }
    }
  }
}

void StepLauncher::launch(const std::vector<DeviceStep>& steps, const LaunchPlace& place) const {
  for (const DeviceStep& step : steps) {
    launch(step, place);
  }
}

void StepLauncher::launch(const DeviceStep& step, const LaunchPlace& place) const {
  std::visit([&](const auto& action) { launch(action, place); }, step.action);
}

void StepLauncher::launch(const Fill& fill, const LaunchPlace& place) const {
  check_cuda(
      cudaMemsetAsync(
          device_pointer(fill.at), fill.value, static_cast<size_t>(fill.bytes), place.stream),
      "cudaMemsetAsync");
}

void StepLauncher::launch(const Copy& copy, const LaunchPlace& place) const {
  check_cuda(cudaMemcpyAsync(device_pointer(copy.to),
                             device_pointer(copy.from),
                             static_cast<size_t>(copy.bytes),
                             cudaMemcpyDeviceToDevice,
                             place.stream),
             "cudaMemcpyAsync");
}

void StepLauncher::launch(const Products& products, const LaunchPlace& place) const {
  for (const Product& product : products.products) {
    const auto plan = plans_.find(ProductShape(product));
    CHECK(plan != plans_.end(), "a product was not prepared");
    plan->second.run(product, place.workspace, place.stream);
  }
}

void StepLauncher::launch(const Kernel& kernel, const LaunchPlace& place) const {
  check_cuda(launch_kernel(kernel, place.stream), name_of(kernel));
}

FusedAttentionEngine& StepLauncher::attention() const {
  CHECK(attention_ != nullptr, "fused attention that nobody planned");
  return *attention_;
}

void StepLauncher::launch(const FusedAttention& fused, const LaunchPlace& place) const {
  attention().launch(fused, place.stream);
}

void StepLauncher::launch(const FusedAttentionBackward& fused, const LaunchPlace& place) const {
  attention().launch(fused, place.stream);
}

bool has_products(const std::vector<DeviceStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const DeviceStep& step) {
    return std::holds_alternative<Products>(step.action);
  });
}

}  // namespace moesim
