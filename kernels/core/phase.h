#pragma once

#include <cmath>

#include "kernels/core/elements.h"

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

// A phase of the first threads.
template <int T, typename Body>
MOESIM_HD void first_threads(int count, const Body& body) {
#ifdef __CUDA_ARCH__
  phase<T>([&](int thread) {
    if (thread < count) {
      body(thread);
    }
  });
#else
  for (int thread = 0; thread < count; ++thread) {
    body(thread);
  }
#endif
}

// How many threads have something to do where there are `count` elements; at least one.
template <int T>
MOESIM_HD int threads_used(int count) {
  return count < 1 ? 1 : (count < T ? count : T);
}

// Merges the values of the first `used` threads into one, halves first: the order depends on T
// alone. merge(own, other) takes another thread's value into a thread's own. Every thread gets the
// result.
template <typename Value, int T, typename Merge>
MOESIM_HD Value block_reduce(Value (&values)[T], int used, const Merge& merge) {
  static_assert((T & (T - 1)) == 0, "halves need a power of two");
  for (int half = T / 2; half > 0; half /= 2) {
    const int pairs = used - half < half ? used - half : half;
    first_threads<T>(pairs, [&](int thread) { merge(values[thread], values[thread + half]); });
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
  first_threads<T>(threads_used<T>(count), [&](int thread) { values[thread] = start; });
  strided_phase<T>(count, [&](int thread, int i) { fold(values[thread], i); });
#endif
}

// The sum of term(i) for i < count.
template <int T, typename Term>
MOESIM_HD float block_sum_of(BlockScratch<T>& scratch, int count, const Term& term) {
  strided_fold(scratch.values, count, 0, [&](float& sum, int i) { sum += term(i); });
  return block_reduce(
      scratch.values, threads_used<T>(count), [](float& own, float other) { own += other; });
}

// The packs of `size` elements, and how many elements there are of one of them.
MOESIM_HD int num_packs(int size) {
  return (size + kPackSize - 1) / kPackSize;
}

MOESIM_HD int pack_count(int pack, int size) {
  const int left = size - kPackSize * pack;
  return left < kPackSize ? left : kPackSize;
}

// fold(value, term) for the `size` terms of terms(first, count), a thread's packs one behind the
// other; then merged as values are.
template <int T, typename Terms, typename Fold>
MOESIM_HD float block_fold_packs(
    BlockScratch<T>& scratch, int size, float start, const Terms& terms, const Fold& fold) {
  strided_fold(scratch.values, num_packs(size), start, [&](float& value, int pack) {
    const int count = pack_count(pack, size);
    const Pack own = terms(kPackSize * pack, count);
    for (int k = 0; k < kPackSize; ++k) {
      if (k < count) {
        fold(value, own.values[k]);
      }
    }
  });
  return block_reduce(scratch.values, threads_used<T>(num_packs(size)), fold);
}

// The sum of `size` terms.
template <int T, typename Terms>
MOESIM_HD float block_sum_of_packs(BlockScratch<T>& scratch, int size, const Terms& terms) {
  return block_fold_packs(scratch, size, 0, terms, [](float& own, float other) { own += other; });
}

// The largest of `size` terms, NaN left aside; minus infinity where there is none.
template <int T, typename Terms>
MOESIM_HD float block_max_of_packs(BlockScratch<T>& scratch, int size, const Terms& terms) {
  return block_fold_packs(scratch, size, -HUGE_VALF, terms, [](float& own, float other) {
    own = other > own ? other : own;
  });
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

// body(first, count) for every pack of [0, size), the last one perhaps of fewer.
template <int T, typename Body>
MOESIM_HD void block_for_packs(int size, const Body& body) {
  block_for<T>(num_packs(size), [&](int pack) { body(kPackSize * pack, pack_count(pack, size)); });
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
  first_threads<T>(threads_used<T>(count), [&](int thread) {
    int best = -1;
    for (int i = thread; i < count; i += T) {
      if (allowed(i) && better(i, best)) {
        best = i;
      }
    }
    scratch.indices[thread] = best;
  });
  return block_reduce(scratch.indices, threads_used<T>(count), [&](int& own, int other) {
    own = better(other, own) ? other : own;
  });
}

}  // namespace moesim
