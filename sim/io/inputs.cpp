#include "sim/io/inputs.h"

#include <fmt/core.h>

#include "sim/base/hash.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
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

Inputs load_inputs(const std::string& scenario_path,
                   const std::string& cluster_path,
                   const std::string& profile_path,
                   const std::vector<std::string>& overrides,
                   const std::vector<std::string>& known_schedules) {
  const std::string text = read_file(scenario_path);
  const io::Document document(io::Schema::kScenario,
                              text,
                              scenario_path,
                              io::overrides_of(io::OverrideTarget::kScenario, overrides));
  const Fields root = document.root();
  const NamedFile cluster = read_named(root, "cluster", cluster_path);
  const NamedFile profile = read_named(root, "profile", profile_path);
  Inputs inputs;
  inputs.cluster = parse_cluster(cluster.text, cluster.path, overrides);
  inputs.profile = parse_profile(profile.text, profile.path, overrides);
  inputs.scenario = io::read_scenario(root, inputs.cluster, known_schedules);
  inputs.scenario.cluster_path = cluster.path;
  inputs.scenario.profile_path = profile.path;
  Hash hash;
  for (const std::string* part : {&text, &cluster.text, &profile.text}) {
    hash.add(std::uint64_t{part->size()}).add(*part);
  }
  for (const std::string& override : overrides) {
    hash.add(std::uint64_t{override.size()}).add(override);
  }
  inputs.hash = hash.hex();
  return inputs;
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return load_inputs(path, "", "", overrides).scenario;
}

}  // namespace moesim
