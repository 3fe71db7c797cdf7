#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/options.h"
#include "sim/engine/simulate.h"
#include "sim/io/inputs.h"
#include "sim/program/verifier.h"
#include "sim/report/result.h"
#include "sim/schedule/schedule.h"

namespace moesim {

// What a command looks at: a Program, and where it comes from. A Program that was read from a file
// has no scenario, and may have neither cluster nor profile.
struct Subject {
  std::optional<Scenario> scenario;
  std::optional<Cluster> cluster;
  std::optional<Profile> profile;
  std::string inputs_hash;
  std::string schedule;
  Plan plan;  // of a Program file: the Program alone

  [[nodiscard]] const Program& program() const { return plan.program; }
  [[nodiscard]] const Cluster* cluster_or_null() const { return cluster ? &*cluster : nullptr; }
  [[nodiscard]] const Profile* profile_or_null() const { return profile ? &*profile : nullptr; }
};

// The scenario with the degrees that the option gives, if it is there, in place of its own.
Scenario with_degrees(Scenario scenario, const std::optional<DegreeOption>& degree);

// The scenario under a schedule; of an empty name, under the first that it lists.
Subject plan_subject(const Inputs& inputs,
                     const std::string& schedule,
                     const PlanOptions& plan,
                     Resolution resolution = Resolution::kAuto);

// What a command wants of its subject, all of which is known before degrees are searched.
struct SubjectNeeds {
  std::vector<std::string> outputs{};  // that it will write: see check_outputs (output_paths.h)
  bool links = false;                  // for --link-load: a cluster that is described link by link
  Resolution resolution = Resolution::kAuto;  // of the search
};

// The Program that the options name, of a file or of a scenario. Throws Error where it has not what
// is needed.
Subject load_subject(const SubjectOptions& options, const SubjectNeeds& needs = {});

// Throws Error, located at the Program's file, where a task's time needs a cluster or a profile
// that was not given.
void require_costs(const Subject& subject, const std::string& program);

Verdict verify(const Subject& subject);

// Throws where the verifier rejects the Program: Error where the user wrote it, std::runtime_error
// where a schedule built it.
void require_verified(const Subject& subject);

// Throws Error where the Program is out of bounds: then not even --unverified can simulate it.
void require_in_bounds(const Subject& subject);

Trace simulate(const Subject& subject, const SimulationOptions& options);

// For make_result and make_summary.
ResultInputs result_inputs(const Subject& subject, const Trace& trace);

}  // namespace moesim
