#pragma once

#include <cudnn_graph.h>

namespace moesim {

// The functions of cuDNN that fused attention calls. The library is hundreds of megabytes and most
// runs do without it, so nothing links it: it is opened where somebody asks for fused attention.
struct CudnnFunctions {
  decltype(&cudnnGetVersion) get_version = nullptr;
  decltype(&cudnnGetErrorString) get_error_string = nullptr;
  decltype(&cudnnGetLastErrorString) get_last_error_string = nullptr;
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnDestroy) destroy = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnBackendExecute) execute = nullptr;
};

// Opens libcudnn.so.9 where the loader finds it; it stays open. Throws Failure where it is not
// found, lacks a function, or is older than 9.16, whose backward pass is wrong for numbers of keys
// that are no multiples of 128.
CudnnFunctions open_cudnn();

// Throws the Failure of a version that is too old.
void require_version(const CudnnFunctions& cudnn);

}  // namespace moesim
