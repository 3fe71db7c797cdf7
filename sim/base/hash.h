#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace moesim {

// 64-bit FNV-1a: a stable content hash for provenance and journal keys, the same on every machine.
// It tells inputs apart; it does not protect against somebody who wants a collision.
class Hash {
 public:
  // Adds raw bytes: add("ab") equals add("a").add("b").
  Hash& add(std::string_view bytes);
  // Adds eight bytes, least significant first: separates fields and counts.
  Hash& add(std::uint64_t value);

  [[nodiscard]] std::uint64_t value() const { return value_; }
  // 16 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  void add_byte(std::uint8_t byte);

  std::uint64_t value_ = 0xcbf29ce484222325;
};

// The hex digits of the hash of one text.
std::string content_hash(std::string_view bytes);

}  // namespace moesim
