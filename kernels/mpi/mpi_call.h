#pragma once

// Without the C++ bindings that MPI 3 removed.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <mpi.h>

namespace moesim {

// Throws a Failure with the call's name and MPI's own words unless `code` is a success.
void check_mpi(int code, const char* call);

}  // namespace moesim
