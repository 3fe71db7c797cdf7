#include "calibration/measured_crosscheck.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"

namespace moesim {
namespace {

using Json = nlohmann::json;

// A value of a JSON file and where it stands, for messages.
class Node {
 public:
  Node(std::string path, std::string field, const Json& json)
      : path_(std::move(path)), field_(std::move(field)), json_(&json) {}

  [[noreturn]] void fail(const std::string& text) const {
    throw Error(field_.empty() ? path_ : path_ + ": " + field_, text);
  }

  [[nodiscard]] std::optional<Node> find(const std::string& key) const {
    require(json_->is_object(), "an object");
    const auto member = json_->find(key);
    if (member == json_->end()) {
      return std::nullopt;
    }
    return Node(path_, field_.empty() ? key : field_ + '.' + key, *member);
  }

  [[nodiscard]] Node at(const std::string& key) const {
    std::optional<Node> member = find(key);
    if (!member) {
      fail(fmt::format("no field '{}'; add it", key));
    }
    return *std::move(member);
  }

  // Nothing that a misspelt name would leave out.
  void require_only(std::initializer_list<std::string_view> keys) const {
    require(json_->is_object(), "an object");
    for (const auto& item : json_->items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
        fail(fmt::format("unknown field '{}'; give {}", item.key(), fmt::join(keys, ", ")));
      }
    }
  }

  [[nodiscard]] std::vector<Node> elements() const {
    require(json_->is_array(), "an array");
    std::vector<Node> nodes;
    for (const Json& element : *json_) {
      nodes.emplace_back(path_, fmt::format("{}[{}]", field_, nodes.size()), element);
    }
    return nodes;
  }

  [[nodiscard]] std::string text() const {
    require(json_->is_string() && !json_->get_ref<const std::string&>().empty(), "some text");
    return json_->get<std::string>();
  }

  [[nodiscard]] bool flag() const {
    require(json_->is_boolean(), "true or false");
    return json_->get<bool>();
  }

  [[nodiscard]] int count() const {
    require(json_->is_number_integer() && json_->get<double>() >= 0 && json_->get<double>() < 1e9,
            "a count");
    return json_->get<int>();
  }

  // At least 0; a time that others are divided by is above it.
  [[nodiscard]] double number() const {
    require(json_->is_number() && json_->get<double>() >= 0, "a number of at least 0");
    return json_->get<double>();
  }
  [[nodiscard]] double positive() const {
    require(json_->is_number() && json_->get<double>() > 0, "a number above 0");
    return json_->get<double>();
  }

 private:
  void require(bool condition, std::string_view what) const {
    if (!condition) {
      fail(fmt::format("give {} here", what));
    }
  }

  std::string path_;
  std::string field_;
  const Json* json_;
};

std::vector<std::string> texts(const Node& node) {
  std::vector<std::string> all;
  for (const Node& element : node.elements()) {
    all.push_back(element.text());
  }
  return all;
}

std::optional<double> optional_number(const Node& node, const std::string& key) {
  const std::optional<Node> member = node.find(key);
  return member ? std::optional(member->number()) : std::nullopt;
}

ScheduleComparison parse_row(const Node& node) {
  ScheduleComparison row;
  row.schedule = node.at("schedule").text();
  row.forward_degree = node.at("forward_degree").count();
  row.backward_degree = node.at("backward_degree").count();
  row.predicted_seconds = node.at("predicted_seconds").positive();
  row.measured_seconds = node.at("measured_seconds").positive();
  row.measured_p25_seconds = node.at("measured_p25_seconds").positive();
  row.num_runs = node.at("runs").count();
  row.num_rejected = node.at("rejected").count();
  row.lateness_seconds = node.at("lateness_seconds").number();
  row.delay_seconds = optional_number(node, "delay_seconds");
  row.spread = optional_number(node, "spread");
  const std::optional<Node> stopped = node.find("stopped");
  row.stopped = stopped ? stopped->text() : "";
  return row;
}

Crosscheck parse_crosscheck(const Node& node) {
  Crosscheck crosscheck;
  crosscheck.backend = node.at("backend").text();
  crosscheck.baseline = node.at("baseline").text();
  crosscheck.modelled = node.at("modelled").flag();
  for (const Node& row : node.at("rows").elements()) {
    crosscheck.rows.push_back(parse_row(row));
  }
  const std::optional<Node> not_measured = node.find("not_measured");
  if (not_measured && !not_measured->elements().empty()) {
    not_measured->fail("not all schedules were measured; store a crosscheck of which all were");
  }
  crosscheck.not_run = texts(node.at("not_run"));
  crosscheck.assumptions = texts(node.at("assumptions"));
  const auto is_baseline = [&](const ScheduleComparison& row) {
    return row.schedule == crosscheck.baseline;
  };
  if (std::none_of(crosscheck.rows.begin(), crosscheck.rows.end(), is_baseline)) {
    node.at("baseline").fail("no row of this schedule; store what moesim crosscheck printed");
  }
  return crosscheck;
}

CrosscheckBar parse_bar(const Node& node) {
  node.require_only({"error", "median_error", "speedup_error", "ranking"});
  CrosscheckBar bar;
  bar.error = optional_number(node, "error");
  bar.median_error = optional_number(node, "median_error");
  bar.speedup_error = optional_number(node, "speedup_error");
  const std::optional<Node> ranking = node.find("ranking");
  bar.ranking = ranking && ranking->flag();
  return bar;
}

}  // namespace

MeasuredCrosscheck parse_measured_crosscheck(const std::string& path, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const Node root(path, "", json);
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
