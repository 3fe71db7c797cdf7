#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/output.h"
#include "sim/cli/subject.h"
#include "sim/report/verdict.h"

namespace moesim {
namespace {

Subject load(const VerifyOptions& options) {
  if (!options.program.empty()) {
    return load_subject(options.program, options.input);
  }
  return plan_subject(load_scenario_inputs(options.input), options.schedule, options.plan);
}

}  // namespace

int run_verify(const VerifyOptions& options) {
  const Subject subject = load(options);
  const Verdict verdict = verify(subject);
  print_out(options.json ? to_json(verdict, subject.program())
                         : to_text(verdict, subject.program()));
  return verdict.ok() ? kExitOk : kExitMissed;
}

}  // namespace moesim
