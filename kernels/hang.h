#pragma once

#include <stdexcept>
#include <string>

namespace moesim {

// A run that does not end: names the collective and the ranks that did not arrive. Exit code 1.
class Hang : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace moesim
