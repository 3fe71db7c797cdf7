#pragma once

#include "sim/base/error.h"

namespace moesim {

// A run that does not end: names the collective and the ranks that did not arrive. Exit code 1.
class Hang : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace moesim
