#pragma once

// Functions of kernels/core run on the host and on CUDA devices: no CUDA types, no containers, no
// exceptions. Given the same numbers both compute the same bits, because every sum has a fixed
// order, exp is our own (core/math.h), and device code is compiled with --fmad=false, as the host
// compiler contracts nothing in ISO mode.
#ifdef __CUDACC__
#define MOESIM_HD __host__ __device__ inline
#else
#define MOESIM_HD inline
#endif
