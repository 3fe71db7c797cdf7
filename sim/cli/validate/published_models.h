#pragma once

#include "sim/cli/validate/boards.h"
#include "sim/cli/validate/finding.h"

namespace moesim::validation {

// Whole iterations that the FSMoE paper prints, on boards that were chosen without them. The
// clusters of the inputs describe other boards, not wired yet.
struct PublishedModels {
  Inputs gpt2xl_a;
  Inputs mixtral_a;
  Inputs gpt2xl_b;
  BoardChoice board_a;
  BoardChoice board_b;
};

// Its Table 6 (GPT2-XL with four gates on testbed B), and FSMoE over Tutel with other sequences and
// numbers of GPUs on testbed A: here on the boards beside published, held to no bar.
void write_published_models(const PublishedModels& models, SectionWriter& writer);

}  // namespace moesim::validation
