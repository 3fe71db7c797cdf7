#include "sim/base/hash.h"

#include <fmt/core.h>

namespace moesim {

void Hash::add_byte(std::uint8_t byte) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  value_ = (value_ ^ byte) * kPrime;
}

Hash& Hash::add(std::string_view bytes) {
  for (const char character : bytes) {
    add_byte(static_cast<std::uint8_t>(character));
  }
  return *this;
}

Hash& Hash::add(std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    add_byte(static_cast<std::uint8_t>(value >> shift));
  }
  return *this;
}

std::string Hash::hex() const {
  return fmt::format("{:016x}", value_);
}

std::string content_hash(std::string_view bytes) {
  return Hash().add(bytes).hex();
}

}  // namespace moesim
