#pragma once

#include <source_location>

#include <nccl.h>

#include "sim/base/error.h"

namespace moesim {

// A call of NCCL that failed, or what went wrong behind one that had returned: names the call, the
// error, NCCL's own words and the place in the source. Exit code 1.
class NcclError : public Failure {
 public:
  using Failure::Failure;
};

// Throws NcclError unless the call succeeded or goes on (communicators here do not block):
// check_nccl(ncclSend(…), "ncclSend").
void check_nccl(ncclResult_t result,
                const char* call,
                std::source_location where = std::source_location::current());

// Of the library that runs, which may be older than the header: comparable with NCCL_VERSION(…).
int nccl_version();
// The same as "NCCL 2.28.9".
std::string nccl_version_text();

}  // namespace moesim
