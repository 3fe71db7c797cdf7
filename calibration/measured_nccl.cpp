#include "calibration/measured_nccl.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "calibration/json_node.h"

namespace moesim {
namespace {

using Json = nlohmann::json;

std::optional<NcclHalf> parse_half(const JsonNode& node, std::int64_t bytes, double factor) {
  if (node.is_null()) {
    return std::nullopt;
  }
  const double seconds = node.positive() * 1e-6;
  const double algbw = static_cast<double>(bytes) / seconds / 1e9;
  return NcclHalf{.seconds = seconds, .algbw = algbw, .busbw = algbw * factor};
}

NcclRow parse_row(const JsonNode& node, double factor) {
  const std::vector<JsonNode> cells = node.elements();
  if (cells.size() != 3) {
    node.fail("give bytes, the time out of place and the time in place, in us");
  }
  NcclRow row;
  row.bytes = static_cast<std::int64_t>(cells[0].positive());
  row.out_of_place = parse_half(cells[1], row.bytes, factor);
  row.in_place = parse_half(cells[2], row.bytes, factor);
  if (!row.out_of_place && !row.in_place) {
    node.fail("both times are null; leave the row out");
  }
  return row;
}

NcclRun parse_run(const JsonNode& node) {
  node.require_only({"collective", "nodes", "gpus_per_node", "environment", "rows"});
  NcclRun run;
  run.collective = node.at("collective").text();
  const NcclCollective* collective = find_nccl_collective(run.collective);
  if (collective == nullptr) {
    node.at("collective")
        .fail(fmt::format("no collective of nccl-tests; give one of {}",
                          fmt::join(nccl_collective_names(), ", ")));
  }
  run.layout = {node.at("nodes").count(), node.at("gpus_per_node").count()};
  if (run.layout.nodes < 1 || run.layout.gpus_per_node < 1 || run.layout.size() < 2) {
    node.at("nodes").fail("these are less than two ranks; give a layout of at least two");
  }
  run.environment = node.at("environment").texts();
  const double factor = busbw_factor(*collective, run.layout.size());
  for (const JsonNode& row : node.at("rows").elements()) {
    run.rows.push_back(parse_row(row, factor));
  }
  if (run.rows.empty()) {
    node.at("rows").fail("no row; leave the run out");
  }
  return run;
}

}  // namespace

MeasuredNccl parse_measured_nccl(const std::string& path, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const JsonNode root(path, "", json);
  if (json.is_discarded()) {
    root.fail("not valid JSON; write the figures as calibration/measured_nccl.h says");
  }
  root.require_only({"source", "machine", "runs"});
  MeasuredNccl measured;
  measured.source = root.at("source").text();
  measured.machine = root.at("machine").text();
  measured.log.path = path;
  for (const JsonNode& run : root.at("runs").elements()) {
    measured.log.runs.push_back(parse_run(run));
  }
  return measured;
}

}  // namespace moesim
