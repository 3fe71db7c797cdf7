#include "sim/report/verdict.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/base/message.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of the contract

Json to_json(const Problem& problem, const Program& program) {
  Json json = {{"kind", to_string(problem.kind)}, {"tasks", Json::array()}};
  for (const int task : problem.tasks) {
    json["tasks"].push_back(program.tasks[static_cast<std::size_t>(task)].name);
  }
  json["message"] = problem.message;
  return json;
}

}  // namespace

std::string to_text(const Verdict& verdict, const Program& program) {
  std::string text;
  for (const Problem& problem : verdict.problems) {
    text += to_string(problem) + '\n';
  }
  for (const std::string& warning : verdict.warnings) {
    text += fmt::format("warning: {}\n", visible_in_line(warning));
  }
  const char* what = verdict.ok() ? "no race, no deadlock, sizes agree" : "NOT sound";
  return text + fmt::format("{}: {} on {}, {}, {}: {}\n",
                            visible_in_line(program.name),
                            counted(program.tasks.size(), "task"),
                            counted(static_cast<std::size_t>(program.num_ranks), "rank"),
                            counted(verdict.problems.size(), "problem"),
                            counted(verdict.warnings.size(), "warning"),
                            what);
}

std::string to_json(const Verdict& verdict, const Program& program) {
  Json json = {{"ok", verdict.ok()}, {"problems", Json::array()}};
  for (const Problem& problem : verdict.problems) {
    json["problems"].push_back(to_json(problem, program));
  }
  json["warnings"] = verdict.warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace moesim
