#include <fmt/core.h>

#include "sim/base/units.h"
#include "sim/io/gpu_check.h"
#include "sim/io/internal/printer.h"
#include "sim/proto/gpu_check.pb.h"

namespace moesim {
namespace {

// What the kind does not need stays absent.
void set_shape(const GpuProbe& probe, proto::GpuProbe& part) {
  if (probe.rows > 0) {
    part.set_rows(probe.rows);
    part.set_columns(probe.columns);
    part.set_depth(probe.depth);
  }
  if (probe.sms > 0) {
    part.set_sms(probe.sms);
  }
  if (probe.beside_sms > 0) {
    part.set_beside_sms(probe.beside_sms);
  }
  if (probe.cold) {
    part.set_cold(true);
  }
}

void set_launches(const GpuProbe& probe, proto::GpuProbe& part) {
  if (probe.priority) {
    part.set_priority(true);
  }
  if (probe.streams > 0) {
    part.set_streams(probe.streams);
  }
  if (probe.kernels > 0) {
    part.set_kernels(probe.kernels);
  }
  if (probe.queues > 0) {
    part.set_queues(probe.queues);
  }
}

void set_bytes(const GpuProbe& probe, proto::GpuProbe& part) {
  if (probe.bytes > 0) {
    part.set_bytes(probe.bytes);
  }
  if (probe.blocks > 0) {
    part.set_blocks(probe.blocks);
  }
  if (probe.group_size > 0) {
    part.set_operation(static_cast<proto::Collective::Operation>(probe.operation));
    part.set_group_size(probe.group_size);
  }
  if (probe.ctas > 0) {
    part.set_ctas(probe.ctas);
  }
  if (probe.packed) {
    part.set_packed(true);
  }
}

}  // namespace

std::string probes_to_json(const GpuProbes& probes) {
  proto::GpuProbes message;
  message.set_num_sms(probes.num_sms);
  for (const std::string& line : probes.environment) {
    message.add_environment(line);
  }
  for (const GpuReading& reading : probes.readings) {
    proto::GpuReading& part = *message.add_readings();
    part.mutable_probe()->set_kind(static_cast<proto::GpuProbe::Kind>(reading.probe.kind));
    set_shape(reading.probe, *part.mutable_probe());
    set_launches(reading.probe, *part.mutable_probe());
    set_bytes(reading.probe, *part.mutable_probe());
    for (const Time time : reading.times) {
      part.add_picoseconds(time.picoseconds());
    }
    part.set_drift(reading.drift);
    part.set_rejected(reading.rejected);
    part.set_group(reading.group);
  }
  message.set_num_planned(probes.num_planned);
  for (const std::string& line : probes.not_run) {
    message.add_not_run(line);
  }
  return io::to_json(message);
}

std::string measured_program_to_json(const MeasuredProgram& measured) {
  proto::MeasuredProgram message;
  message.set_name(measured.name);
  message.set_hash(measured.hash);
  message.set_num_ranks(measured.num_ranks);
  for (const MeasuredRun& run : measured.runs) {
    proto::MeasuredRun& part = *message.add_runs();
    part.set_end_picoseconds(run.end.picoseconds());
    for (const TaskSpan& span : run.spans) {
      part.add_spans(span.rank);
      part.add_spans(span.task);
      for (const Time time : {span.launched, span.start, span.transfer, span.end}) {
        part.add_spans(time.picoseconds());
      }
    }
  }
  return io::to_json(message);
}

std::string attention_case_to_json(const AttentionCase& one) {
  proto::AttentionCase message;
  message.set_program(one.program);
  if (!one.failure.empty()) {
    message.set_failure(one.failure);
    return io::to_json(message);
  }
  message.set_num_fused(one.num_fused);
  message.set_num_buffers(one.num_buffers);
  message.set_largest_error(one.largest_error);
  return io::to_json(message);
}

const char* to_string(GpuProbeKind kind) {
  switch (kind) {
    case GpuProbeKind::kGemm:
      return "gemm";
    case GpuProbeKind::kGemmBesideCopy:
      return "gemm_beside_copy";
    case GpuProbeKind::kGemmBesideSpin:
      return "gemm_beside_spin";
    case GpuProbeKind::kLateCopy:
      return "late_copy";
    case GpuProbeKind::kQueues:
      return "queues";
    case GpuProbeKind::kCopy:
      return "copy";
    case GpuProbeKind::kLaunch:
      return "launch";
    case GpuProbeKind::kCollective:
      return "collective";
    case GpuProbeKind::kCollectivePair:
      return "collective_pair";
  }
  return "";
}

std::string to_string(const GpuProbe& probe) {
  std::string text = to_string(probe.kind);
  const auto add = [&text](bool given, const std::string& what) {
    text += given ? ", " + what : "";
  };
  add(probe.group_size > 0, to_string(probe.operation));
  add(probe.rows > 0, fmt::format("{} x {} x {}", probe.rows, probe.columns, probe.depth));
  add(probe.sms > 0, fmt::format("on {} SMs", probe.sms));
  add(probe.beside_sms > 0, fmt::format("{} SMs held", probe.beside_sms));
  add(probe.bytes > 0, format_bytes(probe.bytes));
  add(probe.blocks > 0, fmt::format("{} blocks", probe.blocks));
  add(probe.group_size > 0, fmt::format("{} GPUs", probe.group_size));
  add(probe.ctas > 0, fmt::format("{} CTAs", probe.ctas));
  add(probe.streams > 0, fmt::format("{} streams", probe.streams));
  add(probe.kernels > 0, fmt::format("{} kernels", probe.kernels));
  add(probe.queues > 0, fmt::format("{} queues", probe.queues));
  add(probe.cold, "cold");
  add(probe.priority, "priority");
  add(probe.packed, "packed");
  return text;
}

}  // namespace moesim
