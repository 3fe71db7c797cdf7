#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/cli/validate/finding.h"
#include "sim/io/inputs.h"

namespace moesim::validation {

// A section of docs/validation.md: its name on the command line, and what it studies.
struct Section {
  std::string name;
  std::string title;
  std::vector<Inputs> inputs;  // named in the text with their hashes
  std::function<Finding(const std::vector<Inputs>&)> study;
};

// In the order of the file.
const std::vector<std::string>& section_names();

// In that order. Reads the scenarios of the repository's root, the working folder. `gpu_check`: the
// result file of the section `gpu`; empty: the one that is stored, if any.
std::vector<Section> all_sections(int num_workers, const std::string& gpu_check = {});

// Its heading, command and inputs, then what the study finds.
Finding run(const Section& section);

}  // namespace moesim::validation
