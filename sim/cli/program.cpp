#include "sim/io/program.h"

#include <string>

#include "sim/base/error.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/output.h"
#include "sim/cli/subject.h"
#include "sim/io/files.h"
#include "sim/io/output_paths.h"

namespace moesim {
namespace {

bool is_text(const std::string& path) {
  if (path.ends_with(".txtpb")) {
    return true;
  }
  if (path.empty() || path.ends_with(".json")) {
    return false;
  }
  throw Error(path, "the ending does not say which format; use .json or .txtpb");
}

}  // namespace

int run_program(const ProgramOptions& options) {
  const bool text = is_text(options.out);
  const Inputs inputs = load_scenario_inputs(options.input);
  check_outputs({options.out}, files_of(inputs));
  const Subject subject = plan_subject(inputs, options.schedule, options.plan);
  const std::string file =
      text ? program_to_text(subject.program()) : program_to_json(subject.program());
  if (options.out.empty()) {
    print_out(file);
  } else {
    write_file_atomically(options.out, file);
  }
  return kExitOk;
}

}  // namespace moesim
