#include "kernels/probe/collective_pattern.h"

#include <algorithm>
#include <functional>

#include "sim/base/check.h"

namespace moesim {
namespace {

// After so many elements a rank's numbers come again: a prime, which no size of a part, a row or a
// message is a multiple of.
constexpr int64_t kPeriod = 65'521;
// BF16 holds all whole numbers up to here.
constexpr uint32_t kMostExact = 256;

using Numbers = std::vector<uint32_t>;  // kPeriod of them

// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 15
// (the finalizer of SplitMix64).
uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31U);
}

Numbers numbers_of(const CollectivePattern& pattern, int rank) {
  const uint32_t most = kMostExact / static_cast<uint32_t>(pattern.group_size);
  CHECK(most >= 2, "{} ranks have too large sums", pattern.group_size);
  Numbers numbers(kPeriod);
  for (int64_t i = 0; i < kPeriod; ++i) {
    const int64_t index = rank * kPeriod + i + 1;
    numbers[static_cast<size_t>(i)] =
        static_cast<uint32_t>(mix(static_cast<uint64_t>(index)) % most);
  }
  return numbers;
}

Numbers sums_of(const CollectivePattern& pattern) {
  Numbers sums(kPeriod);
  for (int rank = 0; rank < pattern.group_size; ++rank) {
    const Numbers terms = numbers_of(pattern, rank);
    std::transform(sums.begin(), sums.end(), terms.begin(), sums.begin(), std::plus<>());
  }
  return sums;
}

void append(const Numbers& numbers, int64_t first, int64_t count, std::vector<Bfloat16>& to) {
  std::vector<Bfloat16> values;
  for (const uint32_t number : numbers) {
    values.push_back(to_bfloat16(static_cast<float>(number)));
  }
  for (int64_t at = first; at < first + count;) {
    const int64_t begin = at % kPeriod;
    const int64_t end = std::min(kPeriod, begin + first + count - at);
    to.insert(to.end(), values.begin() + begin, values.begin() + end);
    at += end - begin;
  }
}

}  // namespace

int64_t CollectivePattern::num_sent() const {
  return operation == CollectiveOperation::kAllGather ? part() : count;
}

int64_t CollectivePattern::num_received() const {
  return operation == CollectiveOperation::kReduceScatter ? part() : count;
}

std::vector<Bfloat16> sent_by(const CollectivePattern& pattern, int rank) {
  std::vector<Bfloat16> sent;
  sent.reserve(static_cast<size_t>(pattern.num_sent()));
  append(numbers_of(pattern, rank), 0, pattern.num_sent(), sent);
  return sent;
}

std::vector<Bfloat16> received_by(const CollectivePattern& pattern, int rank) {
  std::vector<Bfloat16> received;
  received.reserve(static_cast<size_t>(pattern.num_received()));
  const int64_t part = pattern.part();
  const auto add_from_all = [&](int64_t first) {
    for (int sender = 0; sender < pattern.group_size; ++sender) {
      append(numbers_of(pattern, sender), first, part, received);
    }
  };
  const auto add_from = [&](int sender) {
    append(numbers_of(pattern, sender), 0, pattern.count, received);
  };
  switch (pattern.operation) {
    case CollectiveOperation::kAllReduce:
      append(sums_of(pattern), 0, pattern.count, received);
      break;
    case CollectiveOperation::kReduceScatter:
      append(sums_of(pattern), rank * part, part, received);
      break;
    case CollectiveOperation::kAllGather:
      add_from_all(0);
      break;
    case CollectiveOperation::kAllToAll:
      add_from_all(rank * part);
      break;
    case CollectiveOperation::kShift:
      add_from((rank + pattern.group_size - 1) % pattern.group_size);
      break;
    case CollectiveOperation::kBroadcast:
      add_from(0);
      break;
  }
  return received;
}

}  // namespace moesim
