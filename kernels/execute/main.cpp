// moesim-execute: a Program file on this machine, without a simulator and what that needs.
#include <cstdio>
#include <exception>
#include <variant>

#include <fmt/core.h>

#include "kernels/execute/execute.h"
#include "kernels/execute/options.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

int run(int argc, const char* const* argv) {
  try {
    const auto command = parse_execute_options(argc, argv);
    if (const auto* request = std::get_if<ExecuteText>(&command)) {
      fmt::print("{}", request->text);
      return 0;
    }
    return execute(std::get<ExecuteOptions>(command));
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "moesim-execute: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace moesim

int main(int argc, char** argv) {
  return moesim::run(argc, argv);
}
