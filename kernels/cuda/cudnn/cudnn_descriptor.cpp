#include "kernels/cuda/cudnn/cudnn_descriptor.h"

#include <algorithm>
#include <array>

namespace moesim {

void check_cudnn(const CudnnFunctions& cudnn,
                 cudnnStatus_t status,
                 const char* call,
                 std::source_location where) {
  if (status == CUDNN_STATUS_SUCCESS) {
    return;
  }
  std::array<char, 1024> details{};
  cudnn.get_last_error_string(details.data(), details.size());
  const std::string error =
      failed_call(call, std::string(cudnn.get_error_string(status)) + " " + details.data(), where);
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) {
    throw CudnnRefusal(error);
  }
  throw CudaError(error);
}

CudnnDescriptor::CudnnDescriptor(const CudnnFunctions& cudnn, cudnnBackendDescriptorType_t type)
    : cudnn_(&cudnn), handle_(nullptr, Deleter{cudnn.destroy_descriptor}) {
  cudnnBackendDescriptor_t descriptor = nullptr;
  check_cudnn(cudnn, cudnn.create_descriptor(type, &descriptor), "cudnnBackendCreateDescriptor");
  handle_.reset(descriptor);
}

void CudnnDescriptor::set_raw(cudnnBackendAttributeName_t name,
                              cudnnBackendAttributeType_t type,
                              int64_t count,
                              const void* values) const {
  check_cudnn(
      *cudnn_, cudnn_->set_attribute(get(), name, type, count, values), "cudnnBackendSetAttribute");
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, bool value) const {
  set_raw(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}

// With the zero behind it.
void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const std::string& value) const {
  set_raw(name, CUDNN_TYPE_CHAR, static_cast<int64_t>(value.size()) + 1, value.c_str());
}

void CudnnDescriptor::finalize() const {
  check_cudnn(*cudnn_, cudnn_->finalize(get()), "cudnnBackendFinalize");
}

int64_t CudnnDescriptor::number(cudnnBackendAttributeName_t name) const {
  int64_t value = 0;
  int64_t count = 0;
  check_cudnn(*cudnn_,
              cudnn_->get_attribute(get(), name, CUDNN_TYPE_INT64, 1, &count, &value),
              "cudnnBackendGetAttribute");
  return value;
}

int64_t CudnnDescriptor::count(cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type) const {
  int64_t count = 0;
  check_cudnn(*cudnn_,
              cudnn_->get_attribute(get(), name, type, 0, &count, nullptr),
              "cudnnBackendGetAttribute");
  return count;
}

std::vector<CudnnDescriptor> CudnnDescriptor::descriptors(cudnnBackendAttributeName_t name,
                                                          cudnnBackendDescriptorType_t type,
                                                          int64_t most) const {
  std::vector<CudnnDescriptor> all;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int64_t i = 0; i < most; ++i) {
    handles.push_back(all.emplace_back(*cudnn_, type).get());
  }
  int64_t count = 0;
  if (most > 0) {
    check_cudnn(*cudnn_,
                cudnn_->get_attribute(
                    get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, handles.data()),
                "cudnnBackendGetAttribute");
  }
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(std::min(count, most)), all.end());
  return all;
}

}  // namespace moesim
