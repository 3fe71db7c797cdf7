#include "kernels/cuda/libraries/shared_library.h"

#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/base/error.h"

namespace moesim {

SharedLibrary::SharedLibrary(std::string file, const std::string& product)
    : file_(std::move(file)), handle_(dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    const char* reason = dlerror();
    throw Failure(
        fmt::format("{} cannot be loaded ({}); install {}, or have LD_LIBRARY_PATH name its folder",
                    file_,
                    reason == nullptr ? "no reason given" : reason,
                    product));
  }
}

void* SharedLibrary::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) {
    throw Failure(
        fmt::format("{} has no {}: it is not of the version that moesim was built with; have "
                    "LD_LIBRARY_PATH name the folder of one that is",
                    file_,
                    name));
  }
  return found;
}

}  // namespace moesim
