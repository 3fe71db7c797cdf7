#include "sim/io/internal/gpu_probe_reader.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/io/internal/limits.h"
#include "sim/io/profile.h"

namespace moesim::io {
namespace {

// What no GPU has or reaches for years to come: beyond lies a damaged file.
constexpr int kMaxSmsOfGpu = 1024;
constexpr int kMaxCtasOfNccl = 64;
constexpr int kMaxStreams = 1024;
constexpr int kMaxKernels = 1'000'000;
constexpr int kMaxBlocks = 1 << 20;
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24U;
constexpr double kMaxFlopsPerSecond = 1e17;
constexpr double kMaxBytesPerSecond = 1e15;
constexpr std::int64_t kLeastPicoseconds = 1000;
constexpr double kMaxDriftOfGpu = 1000;

using Names = std::vector<std::string>;

struct KindFields {
  Names needed;
  Names optional{};
};

KindFields fields_of(GpuProbeKind kind) {
  switch (kind) {
    case GpuProbeKind::kGemm:
      return {{"rows", "columns", "depth"}, {"sms", "cold"}};
    case GpuProbeKind::kGemmBesideCopy:
    case GpuProbeKind::kGemmBesideSpin:
      return {{"rows", "columns", "depth", "beside_sms"}, {"sms"}};
    case GpuProbeKind::kLateCopy:
      return {{"rows", "columns", "depth", "bytes", "blocks"}, {"priority"}};
    case GpuProbeKind::kQueues:
      return {{"streams", "kernels", "queues"}};
    case GpuProbeKind::kCopy:
      return {{"bytes", "blocks"}};
    case GpuProbeKind::kLaunch:
      return {{"kernels"}};
    case GpuProbeKind::kCollective:
    case GpuProbeKind::kCollectivePair:
      return {{"operation", "group_size", "bytes"}, {"ctas", "packed"}};
  }
  return {};
}

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_fields_of_kind(const Fields& fields, GpuProbeKind kind) {
  const auto all = {"rows",
                    "columns",
                    "depth",
                    "sms",
                    "beside_sms",
                    "cold",
                    "priority",
                    "streams",
                    "kernels",
                    "queues",
                    "bytes",
                    "blocks",
                    "operation",
                    "group_size",
                    "ctas",
                    "packed"};
  const KindFields of = fields_of(kind);
  for (const char* name : all) {
    const bool is_needed = contains(of.needed, name);
    if (is_needed && !fields.has(name)) {
      throw fields.error(name, fmt::format("{} has no \"{}\"; add it", to_string(kind), name));
    }
    if (!is_needed && fields.has(name) && !contains(of.optional, name)) {
      throw fields.error(
          name, fmt::format("\"{}\" does not matter to {}; remove it", name, to_string(kind)));
    }
  }
}

GpuProbe read_probe(const Fields& fields, int num_sms) {
  GpuProbe probe;
  probe.kind = fields.choice<GpuProbeKind>("kind");
  check_fields_of_kind(fields, probe.kind);
  const auto count = [&](const char* name, int most) {
    return fields.integer_or(name, 0, {1, most});
  };
  const auto long_count = [&](const char* name, std::int64_t most) {
    return fields.has(name) ? fields.long_integer(name, {1, most}) : 0;
  };
  probe.rows = long_count("rows", kMaxExtent);
  probe.columns = long_count("columns", kMaxExtent);
  probe.depth = long_count("depth", kMaxExtent);
  probe.sms = count("sms", num_sms);
  probe.beside_sms = count("beside_sms", num_sms - 1);
  probe.cold = fields.flag("cold");
  probe.priority = fields.flag("priority");
  probe.streams = count("streams", kMaxStreams);
  probe.kernels = count("kernels", kMaxKernels);
  probe.queues = count("queues", kMaxHardwareQueues);
  probe.bytes = long_count("bytes", kMaxBytes);
  probe.blocks = count("blocks", kMaxBlocks);
  probe.operation = fields.choice_or("operation", CollectiveOperation::kAllReduce);
  probe.group_size = count("group_size", kMaxRanks);
  probe.ctas = count("ctas", kMaxCtasOfNccl);
  probe.packed = fields.flag("packed");
  return probe;
}

// Throws Error where the work would have been done faster than any GPU does it.
void check_plausible(const Fields& fields, const GpuProbe& probe, int index, Time time) {
  const double flops = probe.flops() / time.seconds();
  const double bytes = static_cast<double>(probe.bytes) / time.seconds();
  if (flops > kMaxFlopsPerSecond || bytes > kMaxBytesPerSecond) {
    throw fields.error("picoseconds",
                       index,
                       fmt::format("{} in {} ps, which no GPU does; measure it anew",
                                   to_string(probe),
                                   time.picoseconds()));
  }
}

void require(const Fields& fields, const char* name) {
  if (!fields.has(name)) {
    throw fields.error(name, fmt::format("GpuReading has no \"{}\"; add it", name));
  }
}

GpuReading read_reading(const Fields& fields, int num_sms) {
  GpuReading reading;
  reading.group = fields.text("group");
  reading.probe = read_probe(fields.child("probe"), num_sms);
  for (const std::int64_t time :
       fields.long_integers("picoseconds", {kLeastPicoseconds, kMaxMeasuredPicoseconds})) {
    const auto index = static_cast<int>(reading.times.size());
    reading.times.push_back(Time::from_picoseconds(time));
    check_plausible(fields, reading.probe, index, reading.times.back());
  }
  if (reading.times.empty()) {
    throw fields.error("picoseconds", "a reading without times; remove it");
  }
  require(fields, "rejected");
  reading.drift = fields.real("drift", {0, kMaxDriftOfGpu});
  reading.rejected = fields.flag("rejected");
  if (reading.rejected != (reading.drift > kMaxProbeDrift)) {
    throw fields.error("rejected",
                       fmt::format("a drift of {} {}; more than {} is rejected, less is not",
                                   reading.drift,
                                   reading.rejected ? "was rejected" : "was not rejected",
                                   kMaxProbeDrift));
  }
  return reading;
}

void check_number_of_readings(const Fields& fields, const GpuProbes& probes) {
  const auto num_readings = static_cast<int>(probes.readings.size());
  const bool is_whole = probes.not_run.empty();
  if (num_readings > probes.num_planned || is_whole != (num_readings == probes.num_planned)) {
    throw fields.error("readings",
                       fmt::format("{} of {} planned readings, and {} lines say what was not run; "
                                   "the file is not whole",
                                   num_readings,
                                   probes.num_planned,
                                   probes.not_run.size()));
  }
}

void check_machine(const Fields& fields,
                   const GpuProbes& probes,
                   int num_sms,
                   const std::vector<std::string>& environment) {
  for (const std::string& line : probes.environment) {
    if (!is_gpu_variable(line) && !contains(environment, line)) {
      throw fields.error("environment",
                         fmt::format("\"{}\" is not in the check's own environment; all of a file "
                                     "is of one GPU, driver and libraries",
                                     line));
    }
  }
  if (probes.num_sms != num_sms) {
    throw fields.error(
        "num_sms",
        fmt::format(
            "num_sms is {}, and {} before; all of a file is of one GPU", probes.num_sms, num_sms));
  }
}

}  // namespace

GpuProbes read_gpu_probes(const Fields& fields) {
  GpuProbes probes;
  probes.environment = fields.texts("environment");
  if (probes.environment.empty()) {
    throw fields.error("environment", "GpuProbes has no \"environment\"; it names the GPU");
  }
  probes.num_sms = fields.integer("num_sms", {1, kMaxSmsOfGpu});
  for (const Fields& reading : fields.children("readings")) {
    probes.readings.push_back(read_reading(reading, probes.num_sms));
  }
  probes.not_run = fields.texts("not_run");
  probes.num_planned = fields.integer("num_planned", kAtLeastOne);
  check_number_of_readings(fields, probes);
  return probes;
}

void check_probes_agree(const Fields& root,
                        const std::vector<std::string>& environment,
                        const std::vector<GpuProbes>& probes) {
  const std::vector<Fields> fields = root.children("probes");
  std::vector<const GpuReading*> seen;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    check_machine(fields[i], probes[i], probes.front().num_sms, environment);
    for (std::size_t at = 0; at < probes[i].readings.size(); ++at) {
      const GpuReading& reading = probes[i].readings[at];
      const bool is_new = std::none_of(seen.begin(), seen.end(), [&](const GpuReading* earlier) {
        return earlier->group == reading.group && earlier->probe == reading.probe;
      });
      if (!is_new) {
        throw fields[i].error(
            "readings",
            static_cast<int>(at),
            fmt::format("{} stands twice in group {}", to_string(reading.probe), reading.group));
      }
      seen.push_back(&reading);
    }
  }
}

}  // namespace moesim::io
