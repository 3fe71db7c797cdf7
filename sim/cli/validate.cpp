#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/base/version.h"
#include "sim/cli/commands.h"
#include "sim/cli/output.h"
#include "sim/cli/validate/all_sections.h"
#include "sim/io/files.h"
#include "sim/io/output_paths.h"

namespace moesim {
namespace {

using validation::Finding;
using validation::Section;

// Throws Error unless it is a section's name, or empty: all of them.
void check_name(const std::string& chosen) {
  const std::vector<std::string>& names = validation::section_names();
  if (!chosen.empty() && std::ranges::find(names, chosen) == names.end()) {
    throw Error(fmt::format(
        "no section '{}'; choose one of {}", abbreviated(chosen), fmt::join(names, ", ")));
  }
}

// Throws Error where the repository's data are not.
void check_folder() {
  for (const char* folder : {"scenarios", "topologies", "calibration"}) {
    if (!std::filesystem::is_directory(folder)) {
      throw Error(
          fmt::format("validate reads the data of the repository, and there is no folder {} here; "
                      "run it in the "
                      "repository's root",
                      folder));
    }
  }
}

std::vector<Section> choose_sections(const ValidateOptions& options) {
  const std::string& chosen = options.section;
  check_name(chosen);
  check_folder();
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<Section> sections = validation::all_sections(std::max(cores, 1), options.file);
  if (!chosen.empty()) {
    std::erase_if(sections, [&](const Section& section) { return section.name != chosen; });
  }
  return sections;
}

std::string heading() {
  return fmt::format(
      "# Validation\n\n"
      "Written by `moesim validate`, version {}, in the repository's root: every run writes the "
      "same bytes. Each section names its command, and its input files with a hash of everything "
      "that they say. How fast moesim is: [performance.md](performance.md).\n\n"
      "*Reproduced*: equal, or the same to the published digits. *Consistent with*: within the "
      "tolerance that the section states. *Not reproduced*: a published figure that nothing here "
      "was asked to meet, and that it does not meet. *Rests on assumptions*: information, held to "
      "no bar. A "
      "bar that is not met reads **MISS**, and the exit code is 3.\n\n",
      version());
}

// Empty for standard output.
std::string choose_output(const ValidateOptions& options) {
  return options.out.empty() && options.section.empty() ? "docs/validation.md" : options.out;
}

}  // namespace

int run_validate(const ValidateOptions& options) {
  const std::vector<Section> sections = choose_sections(options);
  const std::string out = choose_output(options);
  check_outputs({out}, {options.file});
  std::string text = options.section.empty() ? heading() : "";
  int num_misses = 0;
  for (const Section& section : sections) {
    const Finding finding = validation::run(section);
    text += finding.text;
    num_misses += finding.num_misses;
  }
  text.pop_back();  // the empty line after the last paragraph
  if (!out.empty()) {
    write_file_atomically(out, text);
    text = fmt::format("{}: {} bars missed\n", visible_in_line(out), num_misses);
  }
  print_out(text);
  return num_misses == 0 ? kExitOk : kExitMissed;
}

}  // namespace moesim
