#include "sim/cluster/smi_matrix.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/cluster/smi_text.h"

namespace moesim {
namespace {

constexpr size_t kMaxDevices = 256;

class MatrixReader {
 public:
  MatrixReader(const std::string& text, const std::string& path)
      : path_(path), lines_(split_smi_lines(text, path)) {}

  SmiMatrix run() {
    const size_t header = read_header();
    for (size_t i = header + 1; i < lines_.size(); ++i) {
      const int device = find(lines_[i].tokens[0].text);
      if (device >= 0) {
        read_row(device, lines_[i], i + 1 == lines_.size());
      }
    }
    complete();
    return std::move(matrix_);
  }

 private:
  size_t read_header() {
    const auto header = std::ranges::find_if(lines_, is_smi_header);
    if (header == lines_.end()) {
      throw Error(path_,
                  "neither an NCCL topology (XML) nor what nvidia-smi topo -m prints; import one "
                  "of these");
    }
    for (const SmiToken& name : smi_columns(*header)) {
      if (find(name.text) >= 0) {
        throw Error(name.location,
                    fmt::format("a second column {}; {}", name.text, kPrintMatrixAgain));
      }
      matrix_.devices.emplace_back();
      matrix_.devices.back().name = name.text;
      matrix_.devices.back().location = name.location;
      matrix_.devices.back().is_gpu = is_smi_gpu(name.text);
    }
    check_order();
    const size_t size = matrix_.devices.size();
    if (size > kMaxDevices) {
      throw Error(
          header->tokens[0].location,
          fmt::format("more than {} GPUs and NICs in a node; {}", kMaxDevices, kPrintMatrixAgain));
    }
    matrix_.cells.assign(size, std::vector<std::optional<SmiCell>>(size));
    has_row_.assign(size, false);
    return static_cast<size_t>(header - lines_.begin());
  }

  int find(const std::string& name) const {
    const auto found = std::ranges::find(matrix_.devices, name, &SmiMatrix::Device::name);
    return found == matrix_.devices.end() ? -1 : static_cast<int>(found - matrix_.devices.begin());
  }

  void read_row(int device, const SmiLine& line, bool is_last) {
    const std::string& location = line.tokens[0].location;
    const SmiRow row = split_smi_row(line, is_last);
    SmiMatrix::Device& of = matrix_.devices[device];
    if (has_row_[device]) {
      throw Error(location, fmt::format("a second row {}; keep one output", of.name));
    }
    has_row_[device] = true;
    of.location = location;
    place(device, row);
    std::vector<std::string> rest = row.rest;
    std::erase(rest, "N/A");
    if (!rest.empty()) {
      const bool is_cpus = rest.size() > 1 || rest[0].find_first_of(",-") != std::string::npos;
      of.cpus = is_cpus ? rest[0] : "";
      of.numa = !is_cpus ? rest[0] : rest.size() > 1 ? rest[1] : "";
    }
  }

  // A device's own X shows which cells of a short row are in their columns: those before it where
  // it is itself, those behind it where as many are left, or where the text ends.
  void place(int device, const SmiRow& row) {
    const auto size = std::ssize(matrix_.devices);
    const auto count = std::ssize(row.words);
    const auto self = std::ranges::find(row.words, true, &SmiWord::is_self) - row.words.begin();
    const bool has_self = self < count;
    const bool starts_right = has_self ? self == device : row.is_cut && count <= device;
    const bool ends_right =
        has_self && (size - device == count - self || (row.is_cut && starts_right));
    const bool is_twice = std::ranges::count(row.words, true, &SmiWord::is_self) > 1;
    if (count > size || is_twice || (count == size && !(starts_right && ends_right))) {
      throw Error(matrix_.devices[device].location,
                  fmt::format("row {} does not fit the columns; {}",
                              matrix_.devices[device].name,
                              kPrintMatrixAgain));
    }
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const std::ptrdiff_t column = i <= self ? i : i - self + device;
      if (i != self && (i < self ? starts_right : ends_right)) {
        set(device, static_cast<int>(column), row.words[i].cell);
      }
    }
  }

  void set(int from, int to, const SmiCell& cell) {
    const std::optional<SmiCell>& back = matrix_.cells[to][from];
    if (back.has_value() && *back != cell) {
      throw Error(matrix_.devices[from].location,
                  fmt::format("{} and {} do not agree on what is between them; {}",
                              matrix_.devices[from].name,
                              matrix_.devices[to].name,
                              kPrintMatrixAgain));
    }
    matrix_.cells[from][to] = cell;
  }

  void complete() {
    for (size_t i = 0; i < has_row_.size(); ++i) {
      for (size_t j = 0; j < has_row_.size(); ++j) {
        if (!matrix_.cells[i][j].has_value()) {
          matrix_.cells[i][j] = matrix_.cells[j][i];
        }
        if (i != j && !matrix_.cells[i][j].has_value() && matrix_.devices[i].is_gpu) {
          throw Error(matrix_.devices[i].location,
                      fmt::format("no cell of {} and {}, as the output is cut; {} in full",
                                  matrix_.devices[i].name,
                                  matrix_.devices[j].name,
                                  kPrintMatrixAgain));
        }
      }
      if (matrix_.devices[i].is_gpu && !has_row_[i]) {
        throw Error(
            matrix_.devices[i].location,
            fmt::format("no row {}; {} in full", matrix_.devices[i].name, kPrintMatrixAgain));
      }
    }
  }

  void check_order() const {
    for (size_t i = 1; i < matrix_.devices.size(); ++i) {
      if (matrix_.devices[i].is_gpu && !matrix_.devices[i - 1].is_gpu) {
        throw Error(matrix_.devices[i].location,
                    fmt::format("a GPU behind a NIC; {}", kPrintMatrixAgain));
      }
    }
  }

  const std::string& path_;
  std::vector<SmiLine> lines_;
  SmiMatrix matrix_;
  std::vector<bool> has_row_;
};

}  // namespace

int SmiMatrix::num_gpus() const {
  return static_cast<int>(std::ranges::count(devices, true, &Device::is_gpu));
}

SmiMatrix read_smi_matrix(const std::string& text, const std::string& path) {
  return MatrixReader(text, path).run();
}

}  // namespace moesim
