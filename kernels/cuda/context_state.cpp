#include "kernels/cuda/context_state.h"

#include <memory>

#include <dlfcn.h>

namespace moesim {
namespace {

struct LibraryCloser {
  void operator()(void* library) const { static_cast<void>(dlclose(library)); }
};

// cuDevicePrimaryCtxGetState of the driver's library, which is not linked: the program starts
// without one.
using GetState = int (*)(int device, unsigned* flags, int* is_active);

}  // namespace

bool has_context(int device) {
  // Who has not loaded the library has made no context.
  const std::unique_ptr<void, LibraryCloser> driver(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
  if (driver == nullptr) {
    return false;
  }
  const auto get_state =
      reinterpret_cast<GetState>(dlsym(driver.get(), "cuDevicePrimaryCtxGetState"));
  unsigned flags = 0;
  int is_active = 0;
  return get_state != nullptr && get_state(device, &flags, &is_active) == 0 && is_active != 0;
}

}  // namespace moesim
