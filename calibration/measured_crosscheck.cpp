#include "calibration/measured_crosscheck.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "calibration/json_node.h"

namespace moesim {
namespace {

using Json = nlohmann::json;

std::optional<double> optional_number(const JsonNode& node, const std::string& key) {
  const std::optional<JsonNode> member = node.find(key);
  return member ? std::optional(member->number()) : std::nullopt;
}

ScheduleComparison parse_row(const JsonNode& node) {
  ScheduleComparison row;
  row.schedule = node.at("schedule").text();
  row.forward_degree = node.at("forward_degree").count();
  row.backward_degree = node.at("backward_degree").count();
  row.predicted_seconds = node.at("predicted_seconds").positive();
  row.measured.median_seconds = node.at("measured_seconds").positive();
  row.measured.p25_seconds = node.at("measured_p25_seconds").positive();
  row.measured.accepted = node.at("runs").count();
  row.measured.rejected = node.at("rejected").count();
  row.measured.lateness_seconds = node.at("lateness_seconds").number();
  row.measured.delay_seconds = optional_number(node, "delay_seconds");
  row.measured.spread = optional_number(node, "spread");
  const std::optional<JsonNode> stopped = node.find("stopped");
  row.measured.stopped = stopped ? stopped->text() : "";
  return row;
}

Crosscheck parse_crosscheck(const JsonNode& node) {
  Crosscheck crosscheck;
  crosscheck.backend = node.at("backend").text();
  crosscheck.baseline = node.at("baseline").text();
  crosscheck.modelled = node.at("modelled").flag();
  for (const JsonNode& row : node.at("rows").elements()) {
    crosscheck.rows.push_back(parse_row(row));
  }
  const std::optional<JsonNode> not_measured = node.find("not_measured");
  if (not_measured && !not_measured->elements().empty()) {
    not_measured->fail("not all schedules were measured; store a crosscheck of which all were");
  }
  crosscheck.not_run = node.at("not_run").texts();
  crosscheck.assumptions = node.at("assumptions").texts();
  const auto is_baseline = [&](const ScheduleComparison& row) {
    return row.schedule == crosscheck.baseline;
  };
  if (std::none_of(crosscheck.rows.begin(), crosscheck.rows.end(), is_baseline)) {
    node.at("baseline").fail("no row of this schedule; store what moesim crosscheck printed");
  }
  return crosscheck;
}

CrosscheckBar parse_bar(const JsonNode& node) {
  node.require_only({"error", "median_error", "speedup_error", "ranking"});
  CrosscheckBar bar;
  bar.error = optional_number(node, "error");
  bar.median_error = optional_number(node, "median_error");
  bar.speedup_error = optional_number(node, "speedup_error");
  const std::optional<JsonNode> ranking = node.find("ranking");
  bar.ranking = ranking && ranking->flag();
  return bar;
}

}  // namespace

MeasuredCrosscheck parse_measured_crosscheck(const std::string& path, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const JsonNode root(path, "", json);
  if (json.is_discarded()) {
    root.fail("not valid JSON; store what moesim crosscheck --json printed as 'crosscheck'");
  }
  root.require_only({"command", "date", "machine", "bar", "crosscheck"});
  MeasuredCrosscheck measured;
  measured.command = root.at("command").text();
  measured.date = root.at("date").text();
  measured.machine = root.at("machine").text();
  measured.bar = parse_bar(root.at("bar"));
  measured.crosscheck = parse_crosscheck(root.at("crosscheck"));
  return measured;
}

}  // namespace moesim
