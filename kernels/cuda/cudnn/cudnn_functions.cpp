#include "kernels/cuda/cudnn/cudnn_functions.h"

#include <fmt/format.h>

#include "kernels/cuda/libraries/shared_library.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

constexpr size_t kOldest = 91600;

template <typename Function>
void find(const SharedLibrary& library, const char* name, Function*& function) {
  function = library.function<Function>(name);
}

}  // namespace

CudnnFunctions open_cudnn() {
  const SharedLibrary library("libcudnn.so.9", "cuDNN 9.16 or later");
  CudnnFunctions cudnn;
  find(library, "cudnnGetVersion", cudnn.get_version);
  find(library, "cudnnGetErrorString", cudnn.get_error_string);
  find(library, "cudnnGetLastErrorString", cudnn.get_last_error_string);
  find(library, "cudnnCreate", cudnn.create);
  find(library, "cudnnDestroy", cudnn.destroy);
  find(library, "cudnnSetStream", cudnn.set_stream);
  find(library, "cudnnBackendCreateDescriptor", cudnn.create_descriptor);
  find(library, "cudnnBackendDestroyDescriptor", cudnn.destroy_descriptor);
  find(library, "cudnnBackendSetAttribute", cudnn.set_attribute);
  find(library, "cudnnBackendGetAttribute", cudnn.get_attribute);
  find(library, "cudnnBackendFinalize", cudnn.finalize);
  find(library, "cudnnBackendExecute", cudnn.execute);
  require_version(cudnn);
  return cudnn;
}

void require_version(const CudnnFunctions& cudnn) {
  if (const size_t version = cudnn.get_version(); version < kOldest) {
    throw Failure(
        fmt::format("cuDNN {}.{}.{} is too old for fused attention; install 9.16 or later, or "
                    "compute attention by products",
                    version / 10000,
                    version / 100 % 100,
                    version % 100));
  }
}

}  // namespace moesim
