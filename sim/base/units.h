#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/error.h"
#include "sim/base/time.h"

// Quantities as people write them: a number, an optional space, a unit.
//   time       "1.5 us"          s ms us ns ps
//   bytes      "64 MiB"          B, KB MB GB TB (powers of 1000), KiB MiB GiB TiB (of 1024)
//   rate       "200 Gb/s"        those per second, and b Kb Mb Gb Tb: bits, eight to a byte
//   slope      "0.306 ns/KB"     a time per unit of bytes, or per FLOP KFLOP MFLOP GFLOP TFLOP
//   PFLOP
namespace moesim {

// Text that is not the quantity asked for. text() quotes it, says what is wrong with it and gives
// an example; a reader of files adds the location and throws it on as Error.
class UnitError : public Error {
 public:
  using Error::Error;
};

// Each throws UnitError where the unit is missing or unknown, the number is malformed, NaN,
// infinite or negative, or the value is beyond the limit given.
Time parse_time(std::string_view text);             // at most an hour, rounded to picoseconds
std::int64_t parse_bytes(std::string_view text);    // whole bytes, at most 1000 TB
double parse_rate(std::string_view text);           // bytes per second, positive, at most 1e18
double parse_time_per_byte(std::string_view text);  // seconds per byte, at most 1
double parse_time_per_flop(std::string_view text);  // seconds per FLOP, at most 1

// For people: the unit that leaves 1 to 999 before the point, rounded.
std::string format_time(Time time);            // "12.345 ms"
std::string format_bytes(std::int64_t bytes);  // "64 MiB", "1.40 GiB"
std::string format_rate(double rate);          // "112.5 GB/s": four digits, powers of 1000

// For files: parse_time and parse_bytes return exactly the value that was printed.
std::string format_time_exact(Time time);            // "1500 us"; at most an hour, not negative
std::string format_bytes_exact(std::int64_t bytes);  // "64 MiB", "1500 B"; not negative

}  // namespace moesim
