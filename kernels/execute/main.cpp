// moesim-execute: a Program file on this machine, without a simulator and what that needs.
#include <cstdio>
#include <exception>
#include <variant>

#include <fmt/core.h>

#include "kernels/execute/execute.h"
#include "kernels/execute/options.h"
#include "kernels/execute/steps.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

int run(int argc, const char* const* argv) {
  try {
    const auto command = parse_run_options(argc, argv);
    if (const auto* request = std::get_if<RunText>(&command)) {
      fmt::print("{}", request->text);
      return kExitOk;
    }
    return execute(std::get<RunOptions>(command));
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kExitBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "moesim-execute: {}\n", error.what());
    return kExitFailed;
  }
}

}  // namespace
}  // namespace moesim

int main(int argc, char** argv) {
  return moesim::run(argc, argv);
}
