#pragma once

#include <cmath>

#include "kernels/core/host_device.h"

namespace moesim {

// Threads that work together on one row of experts' values, and on a row of a token's or of a
// query's: the order of sums follows from them, so host and devices take the same.
inline constexpr int kBlockThreads = 32;
inline constexpr int kWideBlockThreads = 128;

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

// Merges the threads' values into one, halves first: the order depends on T alone. merge(own,
// other) takes another thread's value into a thread's own. Every thread gets the result.
template <typename Value, int T, typename Merge>
MOESIM_HD Value block_reduce(Value (&values)[T], const Merge& merge) {
  static_assert((T & (T - 1)) == 0, "halves need a power of two");
  for (int half = T / 2; half > 0; half /= 2) {
    phase<T>([&](int thread) {
      if (thread < half) {
        merge(values[thread], values[thread + half]);
      }
    });
  }
  const Value result = values[0];
  phase<T>([](int) {});  // all have read it
  return result;
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

// fold(value, i) for i < count, each thread on a value of its own that begins as `start`. On a
// device it stays in a register, so that loads need not wait for its stores.
template <int T, typename Fold>
MOESIM_HD void strided_fold(float (&values)[T], int count, float start, const Fold& fold) {
#ifdef __CUDA_ARCH__
  phase<T>([&](int thread) {
    float value = start;
    for (int i = thread; i < count; i += T) {
      fold(value, i);
    }
    values[thread] = value;
  });
#else
  phase<T>([&](int thread) { values[thread] = start; });
  strided_phase<T>(count, [&](int thread, int i) { fold(values[thread], i); });
#endif
}

// The sum of term(i) for i < count.
template <int T, typename Term>
MOESIM_HD float block_sum_of(BlockScratch<T>& scratch, int count, const Term& term) {
  strided_fold(scratch.values, count, 0, [&](float& sum, int i) { sum += term(i); });
  return block_reduce(scratch.values, [](float& own, float other) { own += other; });
}

// The largest term(i) for i < count, NaN left aside; minus infinity where there is none.
template <int T, typename Term>
MOESIM_HD float block_max_of(BlockScratch<T>& scratch, int count, const Term& term) {
  const auto keep = [](float& own, float value) { own = value > own ? value : own; };
  strided_fold(
      scratch.values, count, -HUGE_VALF, [&](float& largest, int i) { keep(largest, term(i)); });
  return block_reduce(scratch.values, keep);
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

// body(first, count) for every four of [0, size), the last one perhaps of fewer.
template <int T, typename Body>
MOESIM_HD void block_for_fours(int size, const Body& body) {
  block_for<T>((size + 3) / 4, [&](int four) {
    const int first = 4 * four;
    body(first, size - first < 4 ? size - first : 4);
  });
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
  return block_reduce(scratch.indices,
                      [&](int& own, int other) { own = better(other, own) ? other : own; });
}

}  // namespace moesim
