#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_call.h"
#include "kernels/cuda/cudnn/cudnn_functions.h"

namespace moesim {

// cuDNN has no kernel for what was asked; nothing is wrong.
class CudnnRefusal : public CudaError {
 public:
  using CudaError::CudaError;
};

// Throws CudnnRefusal where cuDNN does not support it, CudaError for other errors.
void check_cudnn(const CudnnFunctions& cudnn,
                 cudnnStatus_t status,
                 const char* call,
                 std::source_location where = std::source_location::current());

// A descriptor of cuDNN's graph API: created, told its attributes, finalized, and read from there
// on. Keeps a reference to the functions.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const CudnnFunctions& cudnn, cudnnBackendDescriptorType_t type);

  cudnnBackendDescriptor_t get() const { return handle_.get(); }

  void set(cudnnBackendAttributeName_t name, int64_t value) const { set(name, std::vector{value}); }
  void set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) const {
    set_values(name, CUDNN_TYPE_INT64, values);
  }
  void set(cudnnBackendAttributeName_t name, bool value) const;
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value) const {
    set_values(name, CUDNN_TYPE_DATA_TYPE, std::vector{value});
  }
  void set(cudnnBackendAttributeName_t name, cudnnPointwiseMode_t value) const {
    set_values(name, CUDNN_TYPE_POINTWISE_MODE, std::vector{value});
  }
  void set(cudnnBackendAttributeName_t name, cudnnReduceTensorOp_t value) const {
    set_values(name, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, std::vector{value});
  }
  void set(cudnnBackendAttributeName_t name, cudnnBackendHeurMode_t value) const {
    set_values(name, CUDNN_TYPE_HEUR_MODE, std::vector{value});
  }
  void set(cudnnBackendAttributeName_t name, cudnnHandle_t value) const {
    set_values(name, CUDNN_TYPE_HANDLE, std::vector{value});
  }
  void set_pointers(cudnnBackendAttributeName_t name, const std::vector<void*>& values) const {
    set_values(name, CUDNN_TYPE_VOID_PTR, values);
  }
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) const {
    set(name, std::vector{value.get()});
  }
  void set(cudnnBackendAttributeName_t name,
           const std::vector<cudnnBackendDescriptor_t>& values) const {
    set_values(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, values);
  }
  // The text of a JSON representation.
  void set(cudnnBackendAttributeName_t name, const std::string& value) const;

  void finalize() const;

  int64_t number(cudnnBackendAttributeName_t name) const;
  // Descriptors of a type that cuDNN fills in: at most `most`, those that it has.
  std::vector<CudnnDescriptor> descriptors(cudnnBackendAttributeName_t name,
                                           cudnnBackendDescriptorType_t type,
                                           int64_t most) const;
  int64_t count(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;

 private:
  template <typename Value>
  void set_values(cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type,
                  const std::vector<Value>& values) const {
    set_raw(name, type, static_cast<int64_t>(values.size()), values.data());
  }
  void set_raw(cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type,
               int64_t count,
               const void* values) const;

  struct Deleter {
    decltype(&cudnnBackendDestroyDescriptor) destroy = nullptr;
    void operator()(cudnnBackendDescriptor_t descriptor) const {
      static_cast<void>(destroy(descriptor));
    }
  };

  const CudnnFunctions* cudnn_;
  std::unique_ptr<void, Deleter> handle_;
};

}  // namespace moesim
