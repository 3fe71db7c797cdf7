#include "sim/schedule/stage_flow.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/schedule/moe_tasks.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

class StageIssuer {
 public:
  StageIssuer(ModelProgram& program, int compute_stream, StageFlow& flow)
      : program_(program), compute_stream_(compute_stream), flow_(flow) {}

  void run() {
    const Scenario& scenario = program_.scenario();
    for (const StagePass& pass : launch_order(scenario.parallel.pp, scenario.pipeline)) {
      program_.begin(pass.part);
      if (pass.pass == Pass::kForward) {
        forward(pass.part);
      } else {
        backward(pass.part);
      }
    }
    program_.begin_all_stages();
  }

 private:
  void forward(const StagePart& part) {
    const int input = part.stage == 0
                          ? program_.add_input_tokens(program_.micro_batch_prefix() + "input")
                          : inputs_.at(part);
    const int output = flow_.forward(input);
    if (part.stage + 1 == program_.num_stages()) {
      d_outputs_[part] = program_.add_loss(compute_stream_, output);
      return;
    }
    const int received = program_.add_tokens(received_name(output));
    shift(Pass::kForward, part.stage, output, received);
    inputs_[{part.stage + 1, part.micro_batch}] = received;
  }

  void backward(const StagePart& part) {
    const int d_input = flow_.backward(d_outputs_.at(part));
    if (part.stage == 0) {
      return;
    }
    const int received = program_.add_partial_tokens(received_name(d_input));
    shift(Pass::kBackward, part.stage - 1, d_input, received);
    d_outputs_[{part.stage - 1, part.micro_batch}] = received;
  }

  std::string received_name(int sent) const { return program_.tensor(sent).name + ".received"; }

  // Over the boundary behind stage `lower`. One task of both stages, and none of the others: a
  // collective moves data when all its members have started it, so one over all of pp would make
  // every stage wait for every other.
  void shift(Pass pass, int lower, int from, int to) {
    const bool forward = pass == Pass::kForward;
    const bool even = lower % 2 == 0;
    Collective collective;
    collective.operation = CollectiveOperation::kShift;
    collective.group = even ? program_.groups().pp_even : program_.groups().pp_odd;
    collective.distance = forward ? 1 : -1;
    Task task = move_task(collective, program_.all(from), program_.all(to));
    task.roles = {lower, lower + 1};
    const int stream = program_.stream(
        fmt::format("{}.{}", even ? "pp_even" : "pp_odd", forward ? "forward" : "backward"));
    program_.add_task(forward ? task_kind::kActivationShift : task_kind::kGradientShift,
                      stream,
                      {pass, forward ? program_.model().layers - 1 : 0},
                      std::move(task));
  }

  ModelProgram& program_;
  int compute_stream_;
  StageFlow& flow_;
  std::map<StagePart, int> inputs_;     // of a stage, received from the one before
  std::map<StagePart, int> d_outputs_;  // of a stage: the loss's, or received from the one behind
};

}  // namespace

void issue_stages(ModelProgram& program, int compute_stream, StageFlow& flow) {
  StageIssuer(program, compute_stream, flow).run();
}

}  // namespace moesim
