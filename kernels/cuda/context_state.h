#pragma once

namespace moesim {

// Whether the device has its context already; false without a driver. Asks the driver, for the
// runtime has no question that would not make one. Tests link an answer of their own.
bool has_context(int device);

}  // namespace moesim
