#include "sim/engine/simgrid_clock.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <utility>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <xbt/log.h>

namespace moesim {
namespace {

// The machine as one more of SimGrid's resource models, beside its own for hosts and links. SimGrid
// asks each model when its next event is, moves its clock to the earliest and tells all of them.
// The machine's time is integers; SimGrid's dates are derived from it and never read back, so that
// it does not matter what the clock of the process says or how its doubles round.
class MachineModel : public simgrid::kernel::resource::Model {
 public:
  MachineModel() : Model("moesim") {}

  void drive(Machine* machine, double origin) {
    machine_ = machine;
    origin_ = origin;
  }

  // The seconds from `now` to the machine's next event, or -1 for none.
  double next_occurring_event(double now) override {
    constexpr double kNothing = -1;
    const bool active = machine_ != nullptr && !machine_->idle();
    announced_ =
        active ? std::max(0.0, origin_ + machine_->next_event().seconds() - now) : kNothing;
    return announced_;
  }

  // A step shorter than the one announced belongs to another model's event.
  void update_actions_state(double /*now*/, double delta) override {
    if (announced_ >= 0 && delta >= announced_) {
      machine_->advance();
    }
  }

 private:
  Machine* machine_ = nullptr;
  double origin_ = 0;  // SimGrid's date of the machine's time zero
  double announced_ = -1;
};

// Puts signal handlers back: SimGrid installs its own, but interrupts and crashes are the
// program's.
class SignalHandlerGuard {
 public:
  SignalHandlerGuard() {
    for (auto& [signal, action] : saved_) {
      sigaction(signal, nullptr, &action);
    }
  }
  ~SignalHandlerGuard() {
    for (auto& [signal, action] : saved_) {
      sigaction(signal, &action, nullptr);
    }
  }
  SignalHandlerGuard(const SignalHandlerGuard&) = delete;
  SignalHandlerGuard(SignalHandlerGuard&&) = delete;
  SignalHandlerGuard& operator=(const SignalHandlerGuard&) = delete;
  SignalHandlerGuard& operator=(SignalHandlerGuard&&) = delete;

 private:
  using Saved = std::pair<int, struct sigaction>;
  std::array<Saved, 3> saved_{Saved{SIGINT, {}}, Saved{SIGSEGV, {}}, Saved{SIGBUS, {}}};
};

// SimGrid's engine with an empty platform. Models and zones must be there before the first run, so
// what the clock needs later (links of a fabric) is to be created here.
class SimgridEngine {
 public:
  SimgridEngine() : model_(std::make_shared<MachineModel>()) {
    const SignalHandlerGuard guard;
    xbt_log_control_set("root.thresh:critical");
    engine_ = std::make_unique<simgrid::s4u::Engine>("moesim");
    simgrid::s4u::create_empty_zone("world")->seal();
    engine_->add_model(model_);
  }

  void run(Machine& machine) {
    model_->drive(&machine, simgrid::s4u::Engine::get_clock());
    engine_->run();
    model_->drive(nullptr, 0);
  }

 private:
  std::shared_ptr<MachineModel> model_;
  std::unique_ptr<simgrid::s4u::Engine> engine_;
};

}  // namespace

void run_on_simgrid(Machine& machine) {
  // SimGrid allows one engine per process and cannot set its clock back: the only mutable static of
  // the simulator, and no result depends on its state.
  static SimgridEngine engine;
  engine.run(machine);
}

}  // namespace moesim
