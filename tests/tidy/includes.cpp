#include "tests/tidy/includes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

namespace moesim::tidy {
namespace {

struct Layer {
  std::string_view folder;
  int height;
};

constexpr auto kLayers = std::to_array<Layer>({{"sim/base", 0},
                                               {"sim/proto", 1},
                                               {"sim/io", 2},
                                               {"sim/model", 3},
                                               {"sim/program", 4},
                                               {"kernels", 5},
                                               {"sim/cluster", 5},
                                               {"sim/analysis", 6},
                                               {"sim/schedule", 7},
                                               {"sim/collective", 7},
                                               {"sim/engine", 8},
                                               {"sim/report", 9},
                                               {"calibration", 10},
                                               {"sim/cli", 11}});

// A library whose headers start with `prefix` (or end with it, where it begins with a dot).
struct Library {
  std::string_view prefix;
  std::vector<std::string_view> folders;
  bool in_headers;
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> all = {
      {"simgrid/", {"sim/engine"}, true},
      {"xbt/", {"sim/engine"}, true},
      {"boost/", {"sim/cluster", "sim/analysis", "tests"}, false},
      {"google/protobuf/", {"sim/io"}, true},
      {".pb.h", {"sim/io"}, true},
      {"CLI/", {"sim/cli", "kernels/execute"}, true},
      {"pugixml", {"sim/cluster"}, false},
      {"nlohmann/json.hpp", {"sim/report", "calibration", "tests"}, false},
      {"nlohmann/json_fwd.hpp", {"calibration"}, true},
      {"fstream", {"sim/io", "tests"}, true},
      {"gtest/", {"tests"}, true},
      {"gmock/", {"tests"}, true},
      {"benchmark/", {"tests/bench"}, true},
      {"cblas.h", {"kernels"}, false},
      {"mpi.h", {"kernels/mpi"}, true},
      {"nccl.h",
       {"kernels/cuda",
        "kernels/gpu",
        "tests/gpu",
        "tests/support/fake_cuda",
        "tests/support/fake_nccl"},
       true},
      {"cudnn_graph.h", {"kernels/cuda/cudnn", "tests/support/fake_cudnn"}, true},
      {"cuda", {"kernels/cuda", "kernels/gpu", "tests/gpu", "tests/support/fake_cuda"}, true},
      {"cublasLt.h", {"kernels/cuda", "kernels/gpu", "tests/gpu", "tests/support/fake_cuda"}, true},
      {"nvtx3/", {"kernels/cuda"}, false},
  };
  return all;
}

std::optional<Layer> layer_of(std::string_view path) {
  for (const Layer& layer : kLayers) {
    if (path.starts_with(layer.folder) && path.substr(layer.folder.size()).starts_with('/')) {
      return layer;
    }
  }
  return std::nullopt;
}

bool may_include(const Layer& from, const Layer& to) {
  return from.folder == to.folder || to.height < from.height;
}

bool belongs_to(const Include& include, const Library& library) {
  return library.prefix.starts_with('.') ? include.path.ends_with(library.prefix)
                                         : include.path.starts_with(library.prefix);
}

bool may_use(const SourceFile& file, const Library& library) {
  const auto above = [&file](std::string_view folder) { return file.is_under(folder); };
  return (library.in_headers || !file.is_header()) &&
         std::any_of(library.folders.begin(), library.folders.end(), above);
}

bool is_simgrid(const Include& include) {
  return include.path.starts_with("simgrid/") || include.path.starts_with("xbt/");
}

using FileByPath = std::map<std::string, const SourceFile*, std::less<>>;

bool reaches_simgrid(const SourceFile& file, const FileByPath& files, std::set<std::string>& seen) {
  for (const Include& include : includes_of(file)) {
    if (is_simgrid(include)) {
      return true;
    }
    const auto found = files.find(include.path);
    const bool fresh = found != files.end() && seen.insert(include.path).second;
    if (fresh && reaches_simgrid(*found->second, files, seen)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Include> includes_of(const SourceFile& file) {
  constexpr std::string_view kDirective = "#include ";
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view line = file.lines[i];
    if (!line.starts_with(kDirective) || line.size() < kDirective.size() + 2) {
      continue;
    }
    const bool quoted = line[kDirective.size()] == '"';
    const std::string_view rest = line.substr(kDirective.size() + 1);
    includes.push_back({std::string(rest.substr(0, rest.find(quoted ? '"' : '>'))), i, quoted});
  }
  return includes;
}

Findings wrong_direction(const SourceFile& file) {
  Findings findings;
  const std::optional<Layer> from = layer_of(file.path);
  for (const Include& include : includes_of(file)) {
    const std::optional<Layer> to = layer_of(include.path);
    if (include.quoted && !to && !include.path.starts_with("tests/")) {
      findings.push_back(finding(file, include.line_index, "include by the path from the root"));
    } else if (from && include.quoted && (!to || !may_include(*from, *to))) {
      const std::string what = fmt::format("{} may not include {}", from->folder, include.path);
      findings.push_back(finding(file, include.line_index, what));
    }
  }
  return findings;
}

Findings library_out_of_place(const SourceFile& file) {
  Findings findings;
  for (const Include& include : includes_of(file)) {
    for (const Library& library : libraries()) {
      if (belongs_to(include, library) && !may_use(file, library)) {
        const std::string what = fmt::format("{} may not be included here", include.path);
        findings.push_back(finding(file, include.line_index, what));
      }
    }
  }
  return findings;
}

Findings too_many_simgrid_units(const std::vector<SourceFile>& files) {
  FileByPath by_path;
  for (const SourceFile& file : files) {
    by_path[file.path] = &file;
  }
  Findings findings;
  for (const SourceFile& file : files) {
    std::set<std::string> seen;
    if (file.has_suffix(".cpp") && reaches_simgrid(file, by_path, seen)) {
      findings.push_back(finding(file, 0, "includes SimGrid: one unit too many"));
    }
  }
  return findings.size() > kMaxSimgridUnits ? findings : Findings();
}

}  // namespace moesim::tidy
