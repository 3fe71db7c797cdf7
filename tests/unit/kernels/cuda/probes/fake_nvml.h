#pragma once

// The driver's management library as far as GpuClock calls it, under its name: the loader finds it
// where unit_gpu_clock looks first.

inline constexpr const char* kFakeNvmlGpu = "0000:3b:00.0";
inline constexpr unsigned kFakeNvmlMegahertz = 1755;

// From here on this function fails; "": none does. To be asked for by name: nothing links it.
extern "C" void fake_nvml_fail(const char* call);
