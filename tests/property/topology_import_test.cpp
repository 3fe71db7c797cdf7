// Damaged dumps of nodes are either imported as a graph that holds together or refused with an
// Error that has a text: never a crash, a hang or another exception. And a matrix that nvidia-smi
// could print of a tree is imported as a tree with the same distances.
//
// MOESIM_IMPORT_MUTATIONS=100000 sets how many mutations there are in all, MOESIM_IMPORT_SEED
// another seed.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/base/random.h"
#include "sim/cluster/import_node.h"
#include "tests/unit/cluster/example_dumps.h"

namespace moesim {
namespace {

constexpr std::uint64_t kSeed = 20261130;
constexpr std::uint64_t kMutations = 6000;

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

bool is_index(int index, std::size_t size) {
  return index >= 0 && static_cast<std::size_t>(index) < size;
}

bool is_rate(double rate) {
  return std::isfinite(rate) && rate > 0;
}

// What is wrong with a graph; empty if nothing is.
std::string defect(const NodeGraph& graph, int num_gpus) {
  if (graph.count(ElementKind::kGpu) != num_gpus) {
    return "wrong number of GPUs";
  }
  for (std::size_t i = 0; i < graph.parts.size(); ++i) {
    const bool is_gpu = graph.parts[i].kind == ElementKind::kGpu;
    if (is_gpu != (static_cast<int>(i) < num_gpus)) {
      return "GPUs are not first";
    }
  }
  std::vector<int> degree(graph.parts.size());
  for (const Cable& cable : graph.cables) {
    if (!is_index(cable.a, graph.parts.size()) || !is_index(cable.b, graph.parts.size()) ||
        cable.a == cable.b) {
      return "a cable without two ends";
    }
    if (!is_rate(cable.rate) || cable.latency < 0) {
      return "a rate that is not positive";
    }
    ++degree[cable.a];
    ++degree[cable.b];
  }
  if (graph.parts.size() > 1 && std::ranges::count(degree, 0) > 0) {
    return "a part that nothing joins";
  }
  if (std::ssize(graph.nic_rates) != graph.count(ElementKind::kNic) ||
      !std::ranges::all_of(graph.nic_rates, is_rate)) {
    return "NICs without rates";
  }
  return "";
}

std::size_t index(Random& random, std::size_t size) {
  return static_cast<std::size_t>(random.uniform_int(0, static_cast<std::int64_t>(size) - 1));
}

struct Range {
  std::size_t start = 0;
  std::size_t size = 0;
};

// The line that a place is in, with its end.
Range line_at(const std::string& text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', start), text.size() - 1);
  return {start, end + 1 - start};
}

// The next white space from a place on.
Range gap_at(const std::string& text, std::size_t at) {
  const std::size_t start = std::min(text.find_first_of(" \t", at), text.size());
  const std::size_t end = std::min(text.find_first_not_of(" \t", start), text.size());
  return {start, end - start};
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void change_number(std::string& text, std::size_t at, Random& random) {
  const std::vector<std::string> numbers = {
      "-1", "0", "1", "7", "2147483647", "99999999999999999999", "1e308", "nan", "0.5", ""};
  const std::size_t digit = text.find_first_of("0123456789", at);
  if (digit != std::string::npos) {
    const std::size_t end = text.find_first_not_of("0123456789", digit);
    text.replace(digit, end - digit, numbers[index(random, numbers.size())]);
  }
}

void mutate_once(std::string& text, Random& random) {
  const std::size_t at = index(random, text.size());
  const Range line = line_at(text, at);
  const Range gap = gap_at(text, at);
  switch (random.uniform_int(0, 10)) {
    case 0:  // the output is cut
      text.resize(at);
      break;
    case 1:
      text[at] = static_cast<char>(random.uniform_int(0, 255));
      break;
    case 2:  // a bit flipped
      text[at] = static_cast<char>(text[at] ^ (1 << random.uniform_int(0, 7)));
      break;
    case 3:
      text.erase(line.start, line.size);
      break;
    case 4:
      text.insert(line.start, text.substr(line.start, line.size));
      break;
    case 5: {  // a line somewhere else
      const std::string moved = text.substr(line.start, line.size);
      text.erase(line.start, line.size);
      text.insert(text.empty() ? 0 : line_at(text, index(random, text.size())).start, moved);
      break;
    }
    case 6:  // two fields fused
      text.erase(gap.start, gap.size);
      break;
    case 7: {  // a field gone
      const Range next = gap_at(text, gap.start + gap.size);
      text.erase(gap.start, next.start - gap.start);
      break;
    }
    case 8:
      change_number(text, at, random);
      break;
    case 9:
      random.uniform_int(0, 1) == 0 ? replace_all(text, "\n", "\r\n")
                                    : replace_all(text, "\t", "  ");
      break;
    default:
      text.insert(index(random, text.size()), text.substr(at, 1 + index(random, 40)));
  }
}

std::string mutate(std::string text, Random& random) {
  for (std::int64_t left = random.uniform_int(1, 3); left > 0 && !text.empty(); --left) {
    mutate_once(text, random);
  }
  return text;
}

// True where it is imported; what goes wrong is reported with `origin` and the text.
bool imports(const ExampleDump& example, const std::string& text, const std::string& origin) {
  NodeDump dump = example.dump;
  dump.text = text;
  try {
    const NodeGraph graph = import_node(dump, example.num_gpus);
    EXPECT_EQ(defect(graph, example.num_gpus), "") << origin << ":\n" << text;
    return true;
  } catch (const Error& error) {
    EXPECT_FALSE(error.text().empty()) << origin << ":\n" << text;
  } catch (const std::exception& other) {
    ADD_FAILURE() << other.what() << "\n" << origin << ":\n" << text;
  }
  return false;
}

TEST(TopologyImportTest, MutationsAreImportedOrRefused) {
  const std::uint64_t seed = number_from("MOESIM_IMPORT_SEED", kSeed);
  const std::uint64_t count = number_from("MOESIM_IMPORT_MUTATIONS", kMutations);
  fmt::print("seed {}, {} mutations\n", seed, count);
  const std::vector<ExampleDump> examples = all_example_dumps();
  std::uint64_t num_imported = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const ExampleDump& example = examples[i % examples.size()];
    Random random(seed, i);
    const std::string origin = fmt::format("{}, seed {}, mutation {}", example.name, seed, i);
    num_imported += imports(example, mutate(example.dump.text, random), origin) ? 1 : 0;
  }
  // Both happen often, or the damage is too little or too much to show anything.
  fmt::print("{} were imported\n", num_imported);
  EXPECT_GT(num_imported, count / 20);
  EXPECT_LT(num_imported, count - count / 5);
}

TEST(TopologyImportTest, PrefixesAreImportedOrRefused) {
  for (const ExampleDump& example : all_example_dumps()) {
    EXPECT_TRUE(imports(example, example.dump.text, example.name));
    for (std::size_t size = 0; size < example.dump.text.size(); ++size) {
      imports(example, example.dump.text.substr(0, size), fmt::format("prefix {}", size));
    }
  }
}

// Distances as nvidia-smi names them: by the number of the deepest thing that two devices share.
constexpr const char* kDistances[] = {"PIX", "PXB", "NODE", "SYS"};

// Where a device hangs: socket, root port of it, switch below that.
struct Place {
  int socket = 0;
  int port = 0;
  int pcie_switch = 0;
};

std::string distance(const Place& a, const Place& b) {
  if (a.socket != b.socket) {
    return kDistances[3];
  }
  if (a.port != b.port) {
    return kDistances[2];
  }
  return kDistances[a.pcie_switch == b.pcie_switch ? 0 : 1];
}

std::string device_name(int device, int num_gpus) {
  return device < num_gpus ? fmt::format("GPU{}", device) : fmt::format("NIC{}", device - num_gpus);
}

std::string print_matrix(const std::vector<Place>& places, int num_gpus) {
  const int count = static_cast<int>(places.size());
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "\t" + device_name(i, num_gpus);
  }
  text += "\tCPU Affinity\n";
  for (int i = 0; i < count; ++i) {
    text += device_name(i, num_gpus);
    for (int j = 0; j < count; ++j) {
      text += "\t" + (i == j ? " X " : distance(places[i], places[j]));
    }
    text += "\n";
  }
  return text;
}

// The same read from a graph: up from each part, and how many PCIe switches there are until the
// ways meet.
class DistanceReader {
 public:
  explicit DistanceReader(const NodeGraph& graph) : graph_(graph), parent_(graph.parts.size(), -1) {
    for (const Cable& cable : graph.cables) {
      if (cable.kind == LinkKind::kPcie) {
        parent_[cable.a] = cable.b;  // cables are written upward
      }
    }
  }

  std::string distance(int a, int b) const {
    const std::vector<int> way = up(a);
    for (const int part : up(b)) {
      const auto meeting = std::ranges::find(way, part);
      if (meeting == way.end()) {
        continue;
      }
      switch (graph_.parts[part].kind) {
        case ElementKind::kPcieSwitch:
          // Both hang at it, or it joins switches.
          return kDistances[parent_[a] == part && parent_[b] == part ? 0 : 1];
        case ElementKind::kSocket:
          return kDistances[2];
        default:
          return "nothing";
      }
    }
    return kDistances[3];
  }

 private:
  std::vector<int> up(int part) const {
    std::vector<int> way;
    for (part = parent_[part]; part >= 0; part = parent_[part]) {
      way.push_back(part);
    }
    return way;
  }

  const NodeGraph& graph_;
  std::vector<int> parent_;
};

TEST(TopologyImportTest, MatrixOfATreeKeepsItsDistances) {
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    Random random(kSeed, trial);
    const int num_gpus = static_cast<int>(random.uniform_int(1, 8));
    const int count = num_gpus + static_cast<int>(random.uniform_int(0, 6));
    std::vector<Place> places(static_cast<std::size_t>(count));
    for (Place& place : places) {
      place.socket = static_cast<int>(random.uniform_int(0, 1));
      place.port = static_cast<int>(random.uniform_int(0, 1));
      place.pcie_switch = static_cast<int>(random.uniform_int(0, 1));
    }
    ExampleDump example = pcie_matrix_example();
    example.dump.text = print_matrix(places, num_gpus);
    SCOPED_TRACE(fmt::format("seed {}, trial {}:\n{}", kSeed, trial, example.dump.text));
    // Fields that a node has no use for are refused.
    const auto is_elsewhere = [&](const Place& place) { return place.socket != places[0].socket; };
    if (std::ranges::none_of(places, is_elsewhere)) {
      example.dump.socket_interconnect_rate = 0;
    }
    if (count == num_gpus) {
      example.dump.nic_rate = 0;
    }
    const NodeGraph graph = import_node(example.dump, num_gpus);
    ASSERT_EQ(defect(graph, num_gpus), "");
    const DistanceReader reader(graph);
    // GPUs, then NICs: a part's index is its device's.
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        if (i != j) {
          EXPECT_EQ(reader.distance(i, j), distance(places[i], places[j])) << i << " and " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace moesim
