#include "sim/io/inputs.h"

#include <fmt/core.h>

#include "sim/base/hash.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "sim/io/imported_files.h"
#include "sim/io/internal/scenario_reader.h"
#include "sim/io/profile.h"

namespace moesim {
namespace {

using io::Fields;

struct NamedFile {
  std::string path;
  std::string text;
};

// The file that replaces the scenario's own, or the one that the scenario names in a field.
NamedFile read_named(const Fields& scenario, const char* field, const std::string& replacement) {
  if (!replacement.empty()) {
    return {replacement, read_file(replacement)};
  }
  if (!scenario.has(field)) {
    throw scenario.error(field, fmt::format("no \"{}\"; add its path or give --{}", field, field));
  }
  const std::string path = resolve_path(scenario.document().path(), scenario.text(field));
  try {
    return {path, read_file(path)};
  } catch (const Error& error) {
    throw scenario.error(field, fmt::format("{}: {}", path, error.text()));
  }
}

}  // namespace

Inputs load_inputs(const std::string& scenario_path, const InputOptions& options) {
  const std::string text = read_file(scenario_path);
  const io::Document document(io::Schema::kScenario,
                              text,
                              scenario_path,
                              io::overrides_of(io::OverrideTarget::kScenario, options.overrides));
  const Fields root = document.root();
  const NamedFile cluster = read_named(root, "cluster", options.cluster);
  const bool has_profile = options.needs_profile || root.has("profile") || !options.profile.empty();
  const NamedFile profile =
      has_profile ? read_named(root, "profile", options.profile) : NamedFile{};
  Inputs inputs;
  inputs.cluster = parse_cluster(cluster.text, cluster.path, options.overrides);
  inputs.profile = parse_profile(profile.text, profile.path, options.overrides);
  prefer(options.algorithms, inputs.profile);
  inputs.scenario = io::read_scenario(root, inputs.cluster, options.known_schedules);
  inputs.scenario.cluster_path = cluster.path;
  inputs.scenario.profile_path = profile.path;
  Hash hash;
  for (const std::string* part : {&text, &cluster.text, &profile.text}) {
    hash.add(std::uint64_t{part->size()}).add(*part);
  }
  add_imported(inputs.cluster, hash);
  for (const std::vector<std::string>* texts : {&options.overrides, &options.algorithms}) {
    for (const std::string& text_of_option : *texts) {
      hash.add(std::uint64_t{text_of_option.size()}).add(text_of_option);
    }
  }
  inputs.hash = hash.hex();
  return inputs;
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return load_inputs(path, {.overrides = overrides}).scenario;
}

}  // namespace moesim
