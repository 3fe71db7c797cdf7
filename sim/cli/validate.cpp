#include "sim/base/error.h"
#include "sim/cli/commands.h"

namespace moesim {

int run_validate(const ValidateOptions& /*options*/) {
  throw Error("moesim validate has no sections in this version; see moesim check");
}

}  // namespace moesim
