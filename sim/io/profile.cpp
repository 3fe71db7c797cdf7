#include "sim/io/profile.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/io/files.h"
#include "sim/io/internal/limits.h"
#include "sim/io/suggestion.h"

namespace moesim {
namespace {

using io::Fields;

// A slope beyond which only a slip of units lies: 1 us per byte or per FLOP.
constexpr double kMaxSecondsPerUnit = 1e-6;

double read_seconds(const Fields& fields, const char* name) {
  return fields.has(name) ? fields.quantity(name, parse_time).seconds() : 0;
}

double read_slope(const Fields& fields, const char* name, double (*parse)(std::string_view)) {
  const double slope = fields.quantity(name, parse);
  if (slope > kMaxSecondsPerUnit) {
    throw fields.error(name, fmt::format("{} is more than 1 us a unit; check its units", name));
  }
  return slope;
}

Fit read_fit(const Fields& cost) {
  const std::optional<Fields> fields = cost.optional_child("fit");
  if (!fields) {
    return {};
  }
  return {.num_samples = fields->integer_or("num_samples", 0, io::kAtLeastZero),
          .r_squared = fields->real_or("r_squared", 0, {0, 1}),
          .standard_error = fields->real_or("standard_error", 0, {0, 1e6})};
}

GemmCost read_gemm(const Fields& fields) {
  return {.startup_seconds = read_seconds(fields, "startup"),
          .seconds_per_flop = read_slope(fields, "per_flop", parse_time_per_flop),
          .fit = read_fit(fields)};
}

// What the points of a table are called in a file, and what is said of them.
struct PointTexts {
  const char* size;
  const char* not_ascending;
  const char* faster;
};

// Sizes and times are interpolated in log-log: positive, sizes ascending, times not descending.
template <typename ReadSize>
std::vector<MeasuredPoint> read_points(const Fields& cost,
                                       const PointTexts& texts,
                                       const ReadSize& read_size) {
  std::vector<MeasuredPoint> points;
  for (const Fields& fields : cost.children("points")) {
    const MeasuredPoint point = {.size = read_size(fields),
                                 .seconds = fields.quantity("time", parse_time).seconds()};
    if (point.size == 0 || (!points.empty() && point.size <= points.back().size)) {
      throw fields.error(texts.size, texts.not_ascending);
    }
    if (point.seconds == 0 || (!points.empty() && point.seconds < points.back().seconds)) {
      throw fields.error("time", texts.faster);
    }
    points.push_back(point);
  }
  return points;
}

constexpr PointTexts kWorkTexts = {"work",
                                   "work must ascend; sort the points",
                                   "more work takes no less time; remove or smooth this point"};
constexpr PointTexts kBytesTexts = {
    "bytes",
    "sizes must ascend from more than zero; sort the points",
    "a larger size takes no less time; remove or smooth this point"};

std::int64_t read_work(const Fields& point) {
  return point.long_integer("work", {1, 1'000'000'000'000'000'000});
}

std::int64_t read_bytes(const Fields& point) {
  return point.quantity("bytes", parse_bytes);
}

OperationCost read_operation(const Fields& fields) {
  OperationCost cost;
  cost.operation = fields.text("operation");
  const std::vector<std::string> names = compute_operation_names();
  if (std::find(names.begin(), names.end(), cost.operation) == names.end()) {
    throw fields.error(
        "operation",
        fmt::format("no operation \"{}\"; {}", cost.operation, suggestion(cost.operation, names)));
  }
  cost.pass = fields.choice_or("pass", Pass::kForward);
  if (cost.pass == Pass::kRecompute) {
    throw fields.error("pass", "a recomputation costs its forward pass; give FORWARD");
  }
  cost.startup_seconds = read_seconds(fields, "startup");
  if (fields.has("per_flop")) {
    cost.seconds_per_flop = read_slope(fields, "per_flop", parse_time_per_flop);
  }
  if (fields.has("per_byte")) {
    cost.seconds_per_byte = read_slope(fields, "per_byte", parse_time_per_byte);
  }
  cost.fit = read_fit(fields);
  cost.points = read_points(fields, kWorkTexts, read_work);
  for (const char* part : {"startup", "per_flop", "per_byte"}) {
    if (!cost.points.empty() && fields.has(part)) {
      throw fields.error(part, "points stand instead of start-up and slopes; keep one of the two");
    }
  }
  return cost;
}

std::vector<OperationCost> read_operations(const Fields& root) {
  std::vector<OperationCost> costs;
  for (const Fields& fields : root.children("operations")) {
    const OperationCost cost = read_operation(fields);
    const auto is_same = [&cost](const OperationCost& other) {
      return cost.operation == other.operation && cost.pass == other.pass;
    };
    if (std::any_of(costs.begin(), costs.end(), is_same)) {
      throw fields.error(
          "operation",
          fmt::format(
              "a second {} in pass {}; keep one of them", cost.operation, to_string(cost.pass)));
    }
    costs.push_back(cost);
  }
  return costs;
}

// A span within a node is of one node, one between nodes of as many as there are ranks.
int read_num_nodes(const Fields& fields, const CollectiveCost& cost) {
  const int nodes = fields.integer_or("num_nodes", 0, {1, io::kMaxRanks});
  if (nodes == 0) {
    return nodes;
  }
  const bool fits = cost.span == Span::kNode     ? nodes == 1
                    : cost.span == Span::kFabric ? nodes == cost.group_size
                                                 : nodes > 1 && nodes < cost.group_size;
  if (!fits || cost.group_size % nodes != 0) {
    throw fields.error(
        "num_nodes",
        "group_size and num_nodes do not make this span: NODE is of one node, FABRIC "
        "of one rank per node, BOTH of several nodes with as many ranks on each");
  }
  return nodes;
}

// A measured time contains the start-up.
void check_startup_of_points(const Fields& fields, const CollectiveCost& cost) {
  if (cost.points.empty() || cost.startup_seconds == 0) {
    return;
  }
  if (cost.startup_per == StartupPer::kPeer && cost.group_size == 0) {
    throw fields.error("startup_per",
                       "the start-up of measured points needs their group_size; give it");
  }
  if (cost.startup_per == StartupPer::kStep) {
    throw fields.error("startup_per",
                       "the start-up of measured points is that of the task or of each peer; give "
                       "TASK or PEER");
  }
  const int times = cost.startup_per == StartupPer::kPeer ? cost.group_size - 1 : 1;
  constexpr double kRounding = 1 + 1e-6;  // of what a file says in nine digits
  if (cost.startup_seconds * times > cost.points.front().seconds * kRounding) {
    throw fields.error("startup", "it is more than the first point's whole time; lower it");
  }
}

// "algorithm" of a message that has an operation; FASTEST only where `chooses`.
Algorithm read_algorithm(const Fields& fields, CollectiveOperation operation, bool chooses) {
  const Algorithm algorithm = fields.choice_or("algorithm", Algorithm::kDefault);
  const std::string problem = algorithm_problem(operation, algorithm);
  if (!problem.empty()) {
    throw fields.error("algorithm", problem);
  }
  if (algorithm == Algorithm::kFastest && !chooses) {
    throw fields.error("algorithm",
                       "nothing was measured with FASTEST; say with which, and put FASTEST into "
                       "\"algorithms\"");
  }
  return algorithm;
}

// What the bytes cost: a line, a table, or nothing but a start-up beside what links carry.
void read_transfer(const Fields& fields, CollectiveCost& cost) {
  cost.points = read_points(fields, kBytesTexts, read_bytes);
  if (!cost.points.empty()) {
    if (fields.has("per_byte")) {
      throw fields.error("per_byte", "points stand instead of per_byte; keep one of the two");
    }
  } else if (fields.has("per_byte") || !(fields.has("startup") || fields.has("peer_rate"))) {
    cost.seconds_per_byte = read_slope(fields, "per_byte", parse_time_per_byte);
  } else {
    cost.only_startup = true;
  }
}

void read_bottleneck(const Fields& fields, CollectiveCost& cost) {
  if (cost.only_startup && fields.has("bottleneck")) {
    throw fields.error("bottleneck",
                       "it says where a measured time is spent, and there is no per_byte and no "
                       "points; give one of them, or remove it");
  }
  cost.bottleneck = fields.choice_or("bottleneck", BottleneckPlace::kPort);
  if (cost.bottleneck == BottleneckPlace::kLink) {
    cost.bottleneck_link = fields.text("bottleneck_link");
    cost.bottleneck_location = fields.error("bottleneck_link", "").location();
  } else if (fields.has("bottleneck_link")) {
    throw fields.error("bottleneck_link",
                       "it goes with bottleneck: LINK; write that, or remove it");
  }
}

void read_ring_rate(const Fields& fields, CollectiveCost& cost) {
  if (!fields.has("ring_rate")) {
    return;
  }
  if (resolved(cost.operation, cost.algorithm) != Algorithm::kRing || cost.only_startup ||
      cost.group_size == 0) {
    throw fields.error("ring_rate",
                       "it is what links gave a ring whose bytes were measured in a group of a "
                       "known size; remove it, or give group_size, and per_byte or points");
  }
  cost.ring_bytes_per_second = fields.quantity("ring_rate", parse_rate);
}

CollectiveCost read_collective(const Fields& fields) {
  CollectiveCost cost;
  cost.operation = fields.choice<CollectiveOperation>("operation");
  cost.span = fields.choice<Span>("span");
  cost.group_size = fields.integer_or("group_size", 0, {2, io::kMaxRanks});
  cost.num_nodes = read_num_nodes(fields, cost);
  cost.startup_seconds = read_seconds(fields, "startup");
  cost.startup_per = fields.choice_or("startup_per", StartupPer::kTask);
  cost.algorithm = read_algorithm(fields, cost.operation, false);
  read_transfer(fields, cost);
  if (fields.has("peer_rate")) {
    cost.peer_bytes_per_second = fields.quantity("peer_rate", parse_rate);
  }
  read_ring_rate(fields, cost);
  check_startup_of_points(fields, cost);
  cost.weight = fields.real_or("weight", 1, {1e-6, 1e6});
  cost.fit = read_fit(fields);
  read_bottleneck(fields, cost);
  return cost;
}

bool same_case(const CollectiveCost& left, const CollectiveCost& right) {
  return left.operation == right.operation && left.span == right.span &&
         left.group_size == right.group_size && left.num_nodes == right.num_nodes &&
         left.algorithm == right.algorithm;
}

std::vector<CollectiveCost> read_collectives(const Fields& root) {
  std::vector<CollectiveCost> costs;
  for (const Fields& fields : root.children("collectives")) {
    const CollectiveCost cost = read_collective(fields);
    const auto is_same = [&cost](const CollectiveCost& other) { return same_case(cost, other); };
    if (std::any_of(costs.begin(), costs.end(), is_same)) {
      throw fields.error(
          "operation",
          fmt::format(
              "a second {} of the same span, group size, number of nodes and algorithm; keep one "
              "of them",
              to_string(cost.operation)));
    }
    costs.push_back(cost);
  }
  return costs;
}

std::vector<AlgorithmChoice> read_algorithms(const Fields& root) {
  std::vector<AlgorithmChoice> choices;
  for (const Fields& fields : root.children("algorithms")) {
    AlgorithmChoice choice;
    choice.operation = fields.choice<CollectiveOperation>("operation");
    if (fields.has("span")) {
      choice.span = fields.choice<Span>("span");
    }
    if (!fields.has("algorithm")) {
      throw fields.error("algorithm", "no \"algorithm\"; say which");
    }
    choice.algorithm = read_algorithm(fields, choice.operation, true);
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace

Profile load_profile(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_profile(read_file(path), path, overrides);
}

Profile parse_profile(const std::string& text,
                      const std::string& path,
                      const std::vector<std::string>& overrides) {
  const io::Document document(
      io::Schema::kProfile, text, path, io::overrides_of(io::OverrideTarget::kProfile, overrides));
  const Fields root = document.root();
  Profile profile;
  profile.name = root.text_or("name", document.stem());
  profile.source = root.text_or("source", "");
  profile.environment = root.texts("environment");
  profile.gpu = root.text_or("gpu", "");
  if (const std::optional<Fields> gemm = root.optional_child("gemm")) {
    profile.gemm = read_gemm(*gemm);
  }
  if (root.has("memory_rate")) {
    profile.memory_bytes_per_second = root.quantity("memory_rate", parse_rate);
  }
  profile.operations = read_operations(root);
  profile.collectives = read_collectives(root);
  profile.algorithms = read_algorithms(root);
  if (root.has("intra_node_rate")) {
    profile.intra_node_rate = root.quantity("intra_node_rate", parse_rate);
  }
  if (root.has("inter_node_rate")) {
    profile.inter_node_rate = root.quantity("inter_node_rate", parse_rate);
  }
  profile.launch_overhead_seconds = read_seconds(root, "launch_overhead");
  profile.hardware_queues =
      root.integer_or("hardware_queues", kDefaultHardwareQueues, {1, kMaxHardwareQueues});
  return profile;
}

void prefer(const std::vector<std::string>& algorithms, Profile& profile) {
  std::vector<AlgorithmChoice> choices;
  for (const std::string& text : algorithms) {
    const AlgorithmChoice choice = parse_algorithm_choice(text);
    const auto same =
        std::find_if(choices.begin(), choices.end(), [&](const AlgorithmChoice& earlier) {
          return earlier.operation == choice.operation;
        });
    if (same != choices.end()) {
      throw Error("--algorithm " + visible_in_line(text),
                  fmt::format("{} has an algorithm already ({}); give one of the two",
                              to_string(choice.operation),
                              to_string(same->algorithm)));
    }
    choices.push_back(choice);
  }
  profile.algorithms.insert(profile.algorithms.begin(), choices.begin(), choices.end());
}

const OperationCost* operation_cost(const Profile& profile, const Task& task) {
  if (profile.operations.empty()) {
    return nullptr;  // asked for every task
  }
  const Pass pass = task.pass == Pass::kRecompute ? Pass::kForward : task.pass;
  const std::string name = descriptor_name(task.descriptor);
  for (const OperationCost& cost : profile.operations) {
    if (cost.pass == pass && cost.operation == name) {
      return &cost;
    }
  }
  return nullptr;
}

int hardware_queues(const Profile* profile) {
  return profile == nullptr ? kDefaultHardwareQueues : profile->hardware_queues;
}

}  // namespace moesim
