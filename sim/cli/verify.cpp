#include "sim/cli/commands.h"
#include "sim/cli/output.h"
#include "sim/cli/subject.h"
#include "sim/report/verdict.h"

namespace moesim {

int run_verify(const VerifyOptions& options) {
  const Subject subject = load_subject(options);
  const Verdict verdict = verify(subject);
  print_out(options.json ? to_json(verdict, subject.program())
                         : to_text(verdict, subject.program()));
  return verdict.ok() ? kExitOk : kExitMissed;
}

}  // namespace moesim
