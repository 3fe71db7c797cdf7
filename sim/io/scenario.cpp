#include "sim/io/scenario.h"

namespace moesim {

ModelConfig Scenario::stage_model() const {
  ModelConfig part = model;
  part.layers /= parallel.pp;
  part.batch /= pipeline.micro_batches;
  return part;
}

}  // namespace moesim
