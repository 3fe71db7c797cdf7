#pragma once

#include "tests/tidy/source_tree.h"

// The rule on what also compiles for devices.
namespace moesim::tidy {

// Files of kernels/core and kernels/device/blocks that include anything but each other, <cmath>,
// <cstdint> and <cstring>, or use of the standard library more than what CUDA has for devices,
// exceptions, virtual functions, allocation or variables that outlive a call. Where nvcc is
// installed, the test kernels_do_not_spill says more.
Findings no_device_code(const SourceFile& file);

}  // namespace moesim::tidy
