#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/cli/recorded_crosscheck.h"
#include "sim/cli/validate/gpu_probe_tables.h"
#include "sim/cli/validate/sections.h"
#include "sim/io/files.h"

namespace moesim::validation {
namespace {

std::string status_text(GpuCheckStatus status) {
  switch (status) {
    case GpuCheckStatus::kDone:
      return "done";
    case GpuCheckStatus::kCutOff:
      return "cut off";
    case GpuCheckStatus::kFailed:
      return "failed";
  }
  return "";
}

void add_parts(const GpuCheck& check, SectionWriter& writer) {
  Table table({"Part", "ended", "seconds", "budget", "what it said"});
  for (const GpuCheckPart& part : check.parts) {
    table.add({part.name,
               status_text(part.status),
               fmt::format("{:.1f}", part.seconds),
               fmt::format("{:.0f}", part.budget_seconds),
               part.message.empty() ? "-" : part.message});
  }
  writer.add(table);
}

// Integer data and exact rounding: every byte of every buffer must be the CPU backend's.
void add_equality(const GpuCheck& check, SectionWriter& writer) {
  if (check.equality.empty()) {
    writer.say("No Program was compared with the CPU backend.");
    return;
  }
  writer.say(
      "Buffers of all ranks after an iteration on integer data, on the GPU and on the CPU "
      "backend:");
  Table table({"Program", "ranks", "buffers", "different", "standing"});
  for (const EqualityCase& one : check.equality) {
    const bool ran = one.failure.empty();
    table.add({one.program,
               fmt::to_string(one.num_ranks),
               ran ? fmt::to_string(one.num_buffers) : "-",
               ran ? fmt::to_string(one.num_different) : one.failure,
               writer.verdict(ran && one.num_different == 0)});
  }
  writer.add(table);
}

void add_crosscheck(const GpuCheck& check,
                    const Inputs& inputs,
                    const std::string& path,
                    SectionWriter& writer) {
  writer.say(fmt::format("### `{}` ({})", inputs.scenario.path, inputs.hash));
  try {
    const Crosscheck crosscheck = recorded_crosscheck(check, inputs, path);
    const std::vector<std::vector<std::string>> cells = schedule_cells(crosscheck);
    Table table(cells.front());
    for (std::size_t i = 1; i < cells.size(); ++i) {
      table.add(cells[i]);
    }
    writer.add(table);
    const Ranking order = ranking(crosscheck);
    writer.say(
        fmt::format("\nMedian error {:.1f} %, largest {:.1f} %; {} of {} pairs in the "
                    "measured order. Held to no bar.",
                    100 * median_error(crosscheck),
                    100 * worst_error(crosscheck),
                    order.num_agreeing,
                    order.num_pairs));
    for (const std::string& reason : crosscheck.not_run) {
      writer.say(fmt::format("Not compared: {}", reason));
    }
  } catch (const Error& error) {
    writer.say(fmt::format("Not compared: {}", error.what()));
  }
}

void add_file(const std::string& path,
              const std::vector<Inputs>& scenarios,
              SectionWriter& writer) {
  const std::string text = read_file(path);
  const GpuCheck check = parse_gpu_check(text, path);
  writer.say(fmt::format("### `{}` ({})", path, content_hash(text)));
  writer.say(
      fmt::format("Measured on {} by moesim {} (`tests/gpu/run.sh`); figures differ from run "
                  "to run.\n\n- {}",
                  check.date,
                  check.version,
                  fmt::join(check.environment, "\n- ")));
  add_parts(check, writer);
  add_equality(check, writer);
  add_probe_tables(check.probes, writer);
  writer.say(
      "Schedules on logical ranks of the one GPU: predicted from the recorded probes, in which all "
      "ranks compute at once, so that a task's cost is that of a GPU shared by all of them.");
  for (const Inputs& inputs : scenarios) {
    add_crosscheck(check, inputs, path, writer);
  }
}

}  // namespace

Finding study_gpu(const GpuStudy& study) {
  SectionWriter writer;
  if (!study.file.empty()) {
    add_file(study.file, study.scenarios, writer);
  } else if (std::filesystem::exists(study.stored)) {
    add_file(study.stored, study.scenarios, writer);
  } else {
    writer.say("No GPU has been had so far: nothing here was measured on one.");
  }
  return std::move(writer).finish();
}

}  // namespace moesim::validation
