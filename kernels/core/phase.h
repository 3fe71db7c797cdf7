#pragma once

#include <cmath>

#include "kernels/core/host_device.h"

namespace moesim {

// Threads that work together on one row or one expert's slots.
inline constexpr int kBlockThreads = 32;

// The body of a block of T threads is a sequence of phases with a barrier behind each. On the host
// a phase is a loop over the threads, on a device every thread runs it for itself: one source, and
// what the tests on the host show holds there too. What threads tell each other between phases goes
// through memory that they share.
template <int T, typename Body>
MOESIM_HD void phase(const Body& body) {
#ifdef __CUDA_ARCH__
  body(static_cast<int>(threadIdx.x));
  __syncthreads();
#else
  for (int thread = 0; thread < T; ++thread) {
    body(thread);
  }
#endif
}

// A block's shared memory for reductions.
template <int T>
struct BlockScratch {
  float values[T];
  int indices[T];
};

// Adds up scratch.values, halves first: the order depends on T alone. Every thread may read the
// result, until the next phase writes.
template <int T>
MOESIM_HD float block_sum(BlockScratch<T>& scratch) {
  static_assert((T & (T - 1)) == 0, "halves need a power of two");
  for (int half = T / 2; half > 0; half /= 2) {
    phase<T>([&](int thread) {
      if (thread < half) {
        scratch.values[thread] += scratch.values[thread + half];
      }
    });
  }
  const float sum = scratch.values[0];
  phase<T>([](int) {});  // all have read it
  return sum;
}

// body(thread, i) for i < count: thread t takes every T-th i from t on. On the host all threads
// take their next one in turn, so that memory is read in order.
template <int T, typename Body>
MOESIM_HD void strided_phase(int count, const Body& body) {
#ifdef __CUDA_ARCH__
  phase<T>([&](int thread) {
    for (int i = thread; i < count; i += T) {
      body(thread, i);
    }
  });
#else
  for (int first = 0; first < count; first += T) {
    for (int i = first; i < count && i < first + T; ++i) {
      body(i - first, i);
    }
  }
#endif
}

// The sum of term(i) for i < count.
template <int T, typename Term>
MOESIM_HD float block_sum_of(BlockScratch<T>& scratch, int count, const Term& term) {
  phase<T>([&](int thread) { scratch.values[thread] = 0; });
  strided_phase<T>(count, [&](int thread, int i) { scratch.values[thread] += term(i); });
  return block_sum(scratch);
}

// The largest term(i) for i < count, NaN left aside; minus infinity where there is none.
template <int T, typename Term>
MOESIM_HD float block_max_of(BlockScratch<T>& scratch, int count, const Term& term) {
  const auto keep = [&](int thread, float value) {
    scratch.values[thread] = value > scratch.values[thread] ? value : scratch.values[thread];
  };
  phase<T>([&](int thread) { scratch.values[thread] = -HUGE_VALF; });
  strided_phase<T>(count, [&](int thread, int i) { keep(thread, term(i)); });
  for (int half = T / 2; half > 0; half /= 2) {
    phase<T>([&](int thread) {
      if (thread < half) {
        keep(thread, scratch.values[thread + half]);
      }
    });
  }
  const float largest = scratch.values[0];
  phase<T>([](int) {});  // all have read it
  return largest;
}

// body(i) for i < count; no body reads what another writes.
template <int T, typename Body>
MOESIM_HD void block_for(int count, const Body& body) {
#ifdef __CUDA_ARCH__
  strided_phase<T>(count, [&](int, int i) { body(i); });
#else
  for (int i = 0; i < count; ++i) {
    body(i);
  }
#endif
}

// Where the largest value(i), i < count, stands, the lowest of equal ones; the first where none
// compares (NaN); -1 where `allowed` refuses all.
template <int T, typename Value, typename Allowed>
MOESIM_HD int block_argmax(BlockScratch<T>& scratch,
                           int count,
                           const Value& value,
                           const Allowed& allowed) {
  const auto better = [&](int left, int right) {  // left is to be preferred to right
    return right < 0 || (left >= 0 && (value(left) > value(right) ||
                                       (!(value(right) > value(left)) && left < right)));
  };
  phase<T>([&](int thread) {
    int best = -1;
    for (int i = thread; i < count; i += T) {
      if (allowed(i) && better(i, best)) {
        best = i;
      }
    }
    scratch.indices[thread] = best;
  });
  for (int half = T / 2; half > 0; half /= 2) {
    phase<T>([&](int thread) {
      if (thread < half && better(scratch.indices[thread + half], scratch.indices[thread])) {
        scratch.indices[thread] = scratch.indices[thread + half];
      }
    });
  }
  const int best = scratch.indices[0];
  phase<T>([](int) {});
  return best;
}

}  // namespace moesim
