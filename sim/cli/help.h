#pragma once

#include <string_view>

// The texts of `--help` beside the options themselves.
namespace moesim {

struct CommandHelp {
  std::string_view name;
  std::string_view synopsis;     // after "moesim NAME"
  std::string_view description;  // one sentence
  std::string_view details;      // what it prints, defaults, examples
};

namespace help {

extern const CommandHelp kSimulate;
extern const CommandHelp kCompare;
extern const CommandHelp kSweep;
extern const CommandHelp kVerify;
extern const CommandHelp kProgram;
extern const CommandHelp kCheck;
extern const CommandHelp kValidate;

extern const std::string_view kProgramFooter;  // of `moesim --help`
extern const std::string_view kExitCodes;

}  // namespace help
}  // namespace moesim
