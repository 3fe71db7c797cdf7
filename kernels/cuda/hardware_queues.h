#pragma once

namespace moesim {

// Has the device map streams to so many hardware queues (1..32), by the environment variable
// CUDA_DEVICE_MAX_CONNECTIONS, which CUDA reads when it makes a device's context or before. Throws
// Failure where the variable said something else and the context is there already: then nothing
// changes it. Call it before anything else that uses CUDA.
void set_hardware_queues(int queues, int device);

}  // namespace moesim
