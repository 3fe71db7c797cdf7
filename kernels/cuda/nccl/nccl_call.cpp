#include "kernels/cuda/nccl/nccl_call.h"

#include <string>

#include <fmt/format.h>

#include "kernels/cuda/cuda_call.h"

namespace moesim {

void check_nccl(ncclResult_t result, const char* call, std::source_location where) {
  if (result == ncclSuccess || result == ncclInProgress) {
    return;
  }
  const char* last = ncclGetLastError(nullptr);
  const std::string details = last == nullptr || *last == '\0' ? "" : fmt::format(" ({})", last);
  throw NcclError(failed_call(call, ncclGetErrorString(result) + details, where));
}

int nccl_version() {
  int version = 0;
  check_nccl(ncclGetVersion(&version), "ncclGetVersion");
  return version;
}

std::string nccl_version_text() {
  const int version = nccl_version();
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace moesim
