#include <filesystem>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/base/message.h"
#include "sim/cli/gpu_check_plan.h"
#include "sim/cli/recorded_crosscheck.h"
#include "sim/cli/validate/gpu_probe_tables.h"
#include "sim/cli/validate/sections.h"
#include "sim/io/files.h"

namespace moesim::validation {
namespace {

std::string status_text(GpuCheckStatus status, SectionWriter& writer) {
  switch (status) {
    case GpuCheckStatus::kDone:
      return "done";
    case GpuCheckStatus::kCutOff:
      return "cut off";
    case GpuCheckStatus::kFailed:
      return writer.failed();
    case GpuCheckStatus::kSkipped:
      return "skipped";
  }
  return "";
}

void add_parts(const GpuCheck& check, SectionWriter& writer) {
  Table table({"Part", "ended", "seconds", "budget", "what it said"});
  for (const GpuCheckPart& part : check.parts) {
    table.add({part.name,
               status_text(part.status, writer),
               fmt::format("{:.1f}", part.seconds),
               fmt::format("{:.0f}", part.budget_seconds),
               part.message.empty() ? "-" : part.message});
  }
  writer.add(table);
}

// Integer data and exact rounding: every byte of every buffer must be the CPU backend's. Gives how
// many Programs were compared.
int add_equality(const std::vector<EqualityCase>& cases,
                 const GpuCheckPart& part,
                 const char* what,
                 SectionWriter& writer) {
  if (cases.empty()) {
    writer.say(fmt::format("No Program was compared with the CPU backend: {}.", what));
    return 0;
  }
  writer.say(
      fmt::format("Buffers of all ranks after an iteration on integer data, on the GPU and on the "
                  "CPU backend: {}:",
                  what));
  Table table({"Program", "ranks", "buffers", "different", "standing"});
  int num_compared = 0;
  for (const EqualityCase& one : cases) {
    const bool ran = one.failure.empty();
    num_compared += ran ? 1 : 0;
    table.add({one.program,
               fmt::to_string(one.num_ranks),
               ran ? fmt::to_string(one.num_buffers) : "-",
               ran ? fmt::to_string(one.num_different) : one.failure,
               ran && one.num_different == 0 ? writer.verdict(true) : writer.failed()});
  }
  writer.add(table);
  if (static_cast<int>(cases.size()) < part.num_planned) {
    writer.say(fmt::format("Cut off: {} of {} Programs.", cases.size(), part.num_planned));
  }
  return num_compared;
}

std::string standing(const AttentionCase& one, SectionWriter& writer) {
  if (one.failure.empty() && one.num_fused == 0) {
    return "no kernel for it";
  }
  const bool is_near = one.failure.empty() && one.largest_error <= kFusedAttentionTolerance;
  return is_near ? writer.verdict(Standing::kConsistent) : writer.failed();
}

void add_attention(const GpuCheck& check, SectionWriter& writer) {
  if (check.attention.empty()) {
    return;
  }
  writer.say(
      fmt::format("Attention by cuDNN's fused kernels beside products, in BF16; of each buffer the "
                  "norm of the difference over the norm, at most {:.4f}:",
                  kFusedAttentionTolerance));
  Table table({"Program", "fused steps", "buffers", "largest difference", "standing"});
  for (const AttentionCase& one : check.attention) {
    const bool ran = one.failure.empty();
    table.add({one.program,
               ran ? fmt::to_string(one.num_fused) : "-",
               ran ? fmt::to_string(one.num_buffers) : "-",
               ran ? fmt::format("{:.5f}", one.largest_error) : one.failure,
               standing(one, writer)});
  }
  writer.add(table);
}

void add_comparison(const Crosscheck& crosscheck, SectionWriter& writer) {
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
    writer.say(fmt::format("Not compared: {}", visible_in_line(reason)));
  }
}

// Gives how many schedules were compared.
int add_crosscheck(const GpuCheck& check,
                   const Inputs& inputs,
                   const std::string& path,
                   SectionWriter& writer) {
  writer.say(fmt::format("### `{}` ({})", inputs.scenario.path, inputs.hash));
  try {
    const Crosscheck crosscheck = recorded_crosscheck(check, inputs, path);
    add_comparison(crosscheck, writer);
    return static_cast<int>(crosscheck.rows.size());
  } catch (const Error& error) {
    writer.say(fmt::format("Not compared: {}", visible_in_line(error.what())));
    return 0;
  }
}

void add_origin(const GpuCheck& check, SectionWriter& writer) {
  std::string text = fmt::format(
      "Measured on {} by moesim {} (`tests/gpu/run.sh`); figures differ from run to run.\n",
      visible_in_line(check.date),
      visible_in_line(check.version));
  for (const std::string& line : check.environment) {
    text += "\n- " + visible_in_line(line);
  }
  writer.say(text);
}

void add_file(const std::string& path, const GpuStudy& study, SectionWriter& writer) {
  const std::string text = read_file(path);
  const GpuCheck check = parse_gpu_check(text, path);
  check_against(plan_gpu_check(study.scenarios), check, path);
  writer.say(fmt::format("### `{}` ({})", visible_in_line(path), content_hash(text)));
  add_origin(check, writer);
  add_parts(check, writer);
  int num_compared = add_equality(
      check.equality, check.parts.front(), "logical ranks, copies between them", writer);
  num_compared += add_equality(check.nccl,
                               check.parts.back(),
                               "a process for each rank, NCCL's sockets between them",
                               writer);
  add_attention(check, writer);
  add_probe_tables(check.probes, writer);
  writer.say(
      "Schedules on logical ranks of the one GPU: predicted from the recorded probes, in which all "
      "ranks compute at once, so that a task's cost is that of a GPU shared by all of them.");
  for (const Inputs& inputs : study.scenarios.timed) {
    num_compared += add_crosscheck(check, inputs, path, writer);
  }
  if (num_compared == 0) {
    writer.say(
        fmt::format("{}: nothing was compared, neither results nor times.", writer.failed()));
  }
}

}  // namespace

Finding study_gpu(const GpuStudy& study) {
  SectionWriter writer;
  if (!study.file.empty()) {
    add_file(study.file, study, writer);
  } else if (std::filesystem::exists(study.stored)) {
    add_file(study.stored, study, writer);
  } else {
    writer.say("No GPU has been had so far: nothing here was measured on one.");
  }
  return std::move(writer).finish();
}

}  // namespace moesim::validation
