#include "sim/cli/validate/gpu_probe_tables.h"

#include <fmt/format.h>

#include "calibration/gpu_findings.h"
#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/report/text.h"

namespace moesim::validation {
namespace {

std::string seconds_text(double seconds) {
  return format_time(Time::from_seconds(seconds));
}

std::string error_text(const Line& line) {
  return line.fit.standard_error > 0 ? format_percent(line.fit.standard_error) : "-";
}

std::string spread_text(const std::optional<double>& spread) {
  return spread ? format_percent(*spread) : "-";
}

std::string tera(double flops_per_second) {
  return fmt::format("{:.1f}", flops_per_second / 1e12);
}

void add_gemms(const GpuFindings& findings, SectionWriter& writer) {
  if (findings.gemms.empty()) {
    return;
  }
  writer.say("GEMM of tokens x depth by depth x columns, BF16, fitted to start-up + FLOPs / rate:");
  Table table({"columns x depth",
               "L2",
               "start-up",
               "TFLOP/s of the line",
               "standard error",
               "r2",
               "n",
               "most TFLOP/s measured"});
  for (const GemmFinding& gemm : findings.gemms) {
    table.add({fmt::format("{} x {}", gemm.columns, gemm.depth),
               gemm.cold ? "cold" : "warm",
               seconds_text(gemm.line.startup_seconds),
               gemm.line.seconds_per_unit > 0 ? tera(1 / gemm.line.seconds_per_unit) : "-",
               error_text(gemm.line),
               fmt::format("{:.4f}", gemm.line.fit.r_squared),
               fmt::to_string(gemm.line.fit.num_samples),
               tera(gemm.most_flops_per_second)});
  }
  writer.add(table);
}

void add_contention(const GpuFindings& findings, SectionWriter& writer) {
  if (const std::optional<Line>& line = findings.gemm_by_sms) {
    writer.say(
        fmt::format("A GEMM limited to s SMs takes {} + {} SM-seconds / s (standard error "
                    "{}, r2 {:.4f}, n = {}).",
                    seconds_text(line->startup_seconds),
                    fmt::format("{:.4g}", line->seconds_per_unit),
                    error_text(*line),
                    line->fit.r_squared,
                    line->fit.num_samples));
  }
  if (findings.contention.empty()) {
    return;
  }
  writer.say(
      "A GEMM beside a kernel that holds k SMs. SM loss: its time beside one that only occupies "
      "them, over alone; memory loss: beside one that copies, over beside that:");
  Table table({"k", "GEMM told to use", "SM loss", "memory loss"});
  for (const ContentionFinding& one : findings.contention) {
    table.add({fmt::to_string(one.held_sms),
               one.limit > 0 ? fmt::format("{} SMs", one.limit) : "all",
               fmt::format("{:.3f}", one.sm_loss),
               fmt::format("{:.3f}", one.memory_loss)});
  }
  writer.add(table);
}

void add_launches(const GpuFindings& findings, SectionWriter& writer) {
  for (const LateFinding& late : findings.late) {
    writer.say(fmt::format("A kernel launched behind a GEMM, {} priority, waited for {} of it.",
                           late.priority ? "with" : "without",
                           format_percent(late.waited)));
  }
  for (const QueueFinding& queue : findings.queues) {
    writer.say(
        fmt::format("{} chains of kernels in {} hardware queues: {} of the way from chains "
                    "that run side by side to one queue's order.",
                    queue.streams,
                    queue.queues,
                    format_percent(queue.serialized)));
  }
  if (findings.launch) {
    writer.say(fmt::format("A launch takes the host {} (known to {}).",
                           seconds_text(findings.launch->seconds),
                           spread_text(findings.launch->spread)));
  }
  if (findings.copy_bytes_per_second > 0) {
    writer.say(fmt::format("Copies read and write {} (known to {}); {} blocks reach 95 % of it.",
                           format_rate(findings.copy_bytes_per_second),
                           spread_text(findings.copy_spread),
                           findings.copy_blocks));
  }
}

void add_collectives(const GpuFindings& findings, SectionWriter& writer) {
  if (!findings.collectives.empty()) {
    writer.say("NCCL's collectives, bytes per rank (one GPU: sends to itself, no links):");
    Table table({"operation", "GPUs", "CTAs", "packed", "start-up", "rate", "standard error", "n"});
    for (const CollectiveFinding& one : findings.collectives) {
      const double slope = one.line.seconds_per_unit;
      table.add({to_string(one.operation),
                 fmt::to_string(one.group_size),
                 one.ctas > 0 ? fmt::to_string(one.ctas) : "NCCL's",
                 one.packed ? "yes" : "no",
                 seconds_text(one.line.startup_seconds),
                 slope > 0 ? format_rate(1 / slope) : "-",
                 error_text(one.line),
                 fmt::to_string(one.line.fit.num_samples)});
    }
    writer.add(table);
  }
  for (const PairFinding& pair : findings.pairs) {
    writer.say(fmt::format("Two AlltoAlls of {} over {} GPUs at once: {:.2f} times one alone.",
                           format_bytes(pair.bytes),
                           pair.group_size,
                           pair.factor));
  }
}

}  // namespace

void add_probe_tables(const std::vector<GpuProbes>& probes, SectionWriter& writer) {
  const GpuFindings findings = gpu_findings(probes);
  writer.say(
      fmt::format("Probes: {} of {} configurations rejected because the GPU's speed drifted.",
                  findings.num_rejected,
                  findings.num_readings));
  add_gemms(findings, writer);
  add_contention(findings, writer);
  add_launches(findings, writer);
  add_collectives(findings, writer);
  for (const GpuProbes& one : probes) {
    for (const std::string& reason : one.not_run) {
      writer.say(fmt::format("Not measured: {}", visible_in_line(reason)));
    }
  }
}

}  // namespace moesim::validation
