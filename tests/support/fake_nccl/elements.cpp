#include "tests/support/fake_nccl/elements.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "kernels/core/bfloat16.h"

namespace moesim::fake_nccl {
namespace {

template <typename Element, typename Load, typename Store>
void add(const Bytes& terms, size_t first, Bytes& sums, const Load& load, const Store& store) {
  for (size_t at = 0; at < sums.size(); at += sizeof(Element)) {
    Element term;
    Element sum;
    std::memcpy(&term, terms.data() + first + at, sizeof(Element));
    std::memcpy(&sum, sums.data() + at, sizeof(Element));
    sum = store(load(sum) + load(term));
    std::memcpy(sums.data() + at, &sum, sizeof(Element));
  }
}

}  // namespace

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclFloat32:
    case ncclInt32:
      return 4;
    case ncclBfloat16:
      return 2;
    case ncclUint8:
      return 1;
    default:
      throw std::logic_error("the fake has no such type");
  }
}

void add(ncclDataType_t type, const Bytes& terms, size_t first, Bytes& sums) {
  const auto same = [](auto value) { return value; };
  switch (type) {
    case ncclFloat32:
      return add<float>(terms, first, sums, same, same);
    case ncclInt32:
      return add<int32_t>(terms, first, sums, same, same);
    case ncclBfloat16:
      return add<Bfloat16>(terms, first, sums, to_float, to_bfloat16);
    default:
      return add<uint8_t>(
          terms, first, sums, same, [](int sum) { return static_cast<uint8_t>(sum); });
  }
}

}  // namespace moesim::fake_nccl
