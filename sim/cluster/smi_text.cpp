#include "sim/cluster/smi_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

constexpr int kMaxNvLinks = 1000;

// Colours and underlines of a terminal become spaces.
void blank_escapes(std::string& text) {
  for (size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at)) {
    while (at < text.size() && text[at] != '\n' &&
           !std::isalpha(static_cast<unsigned char>(text[at]))) {
      text[at++] = ' ';
    }
    if (at < text.size() && text[at] != '\n') {
      text[at] = ' ';
    }
  }
}

bool is_space(char character) {
  return std::isspace(static_cast<unsigned char>(character)) != 0;
}

SmiLine split(std::string_view line, const std::string& path, int number) {
  SmiLine result;
  for (size_t at = 0; at < line.size();) {
    if (is_space(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() && !is_space(line[end])) {
      ++end;
    }
    result.tokens.push_back(
        {std::string(line.substr(at, end - at)), fmt::format("{}:{}:{}", path, number, at + 1)});
    at = end;
  }
  return result;
}

size_t num_digits(std::string_view text) {
  return static_cast<size_t>(std::ranges::find_if(text, [](char c) { return c < '0' || c > '9'; }) -
                             text.begin());
}

// The length of a name such as GPU0 or NIC11 that the text begins with; 0: there is none.
size_t numbered_name(std::string_view text) {
  if (!text.starts_with("GPU") && !text.starts_with("NIC")) {
    return 0;
  }
  const size_t digits = num_digits(text.substr(3));
  return digits == 0 ? 0 : 3 + digits;
}

// The cell that a text begins with. Older drivers wrote SOC for SYS and PSB for PIX.
SmiWord first_word(std::string_view text) {
  struct Name {
    std::string_view text;
    SmiDistance distance;
  };
  constexpr auto kNames = std::to_array<Name>({{"PIX", SmiDistance::kPix},
                                               {"PSB", SmiDistance::kPix},
                                               {"PXB", SmiDistance::kPxb},
                                               {"PHB", SmiDistance::kPhb},
                                               {"NODE", SmiDistance::kNode},
                                               {"SYS", SmiDistance::kSys},
                                               {"SOC", SmiDistance::kSys}});
  for (const Name& name : kNames) {
    if (text.starts_with(name.text)) {
      return {.cell = {.distance = name.distance}, .length = name.text.size()};
    }
  }
  if (text.starts_with('X')) {
    return {.is_self = true, .cell = {}, .length = 1};
  }
  int count = 0;
  const size_t digits = text.starts_with("NV") ? num_digits(text.substr(2)) : 0;
  if (digits == 0) {
    return {};
  }
  std::from_chars(text.data() + 2, text.data() + 2 + digits, count);
  return {.cell = {.nvlinks = count}, .length = count > 0 && count <= kMaxNvLinks ? 2 + digits : 0};
}

bool is_peer_word(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>({"OK", "CNS", "GNS", "TNS", "NS", "U"});
  return std::ranges::find(kWords, text) != kWords.end();
}

bool is_affinity(std::string_view text) {
  return text == "N/A" || text.find_first_not_of("0123456789,-") == std::string_view::npos;
}

}  // namespace

std::vector<SmiLine> split_smi_lines(std::string text, const std::string& path) {
  blank_escapes(text);
  std::vector<SmiLine> lines;
  int number = 0;
  for (size_t start = 0; start < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', start), text.size());
    SmiLine line = split(std::string_view(text).substr(start, end - start), path, number + 1);
    line.ends_text = end == text.size() && !is_space(text.back());
    if (!line.tokens.empty()) {
      lines.push_back(std::move(line));
    }
    start = end + 1;
  }
  return lines;
}

bool is_smi_header(const SmiLine& line) {
  const std::vector<SmiToken> names = smi_columns(line);
  return !names.empty() && is_smi_gpu(names[0].text) &&
         (line.tokens.size() == 1 || first_word(line.tokens[1].text).length == 0);
}

std::vector<SmiToken> smi_columns(const SmiLine& line) {
  std::vector<SmiToken> names;
  for (SmiToken token : line.tokens) {
    const size_t end = std::min(token.text.find("CPU"), token.text.find("NUMA"));
    token.text.resize(std::min(end, token.text.size()));
    // Fused names.
    while (numbered_name(token.text) > 0 && numbered_name(token.text) < token.text.size()) {
      const size_t length = numbered_name(token.text);
      names.push_back({token.text.substr(0, length), token.location});
      token.text.erase(0, length);
    }
    if (!token.text.empty() && token.text != "GPU") {
      names.push_back(token);
    }
    if (end != std::string::npos) {
      break;
    }
  }
  return names;
}

bool is_smi_gpu(std::string_view name) {
  return name.starts_with("GPU") && numbered_name(name) == name.size();
}

SmiRow split_smi_row(const SmiLine& line, bool is_last) {
  SmiRow row;
  for (size_t i = 1; i < line.tokens.size(); ++i) {
    const bool may_be_cut = line.ends_text && i + 1 == line.tokens.size();
    std::string_view text = line.tokens[i].text;
    std::vector<SmiWord> words;
    while (row.rest.empty() && first_word(text).length > 0) {
      words.push_back(first_word(text));
      text.remove_prefix(words.back().length);
    }
    if (may_be_cut && !words.empty()) {
      words.pop_back();
    }
    row.words.insert(row.words.end(), words.begin(), words.end());
    if (text.empty() || may_be_cut) {
      continue;
    }
    if (is_peer_word(text)) {
      throw Error(line.tokens[i].location,
                  "what nvidia-smi topo -p2p prints: whether GPUs may reach each other, not how "
                  "they are joined; print nvidia-smi topo -m");
    }
    if (!is_affinity(text)) {
      throw Error(
          line.tokens[i].location,
          fmt::format("'{}' is no cell such as NV12, PIX or SYS; {}", text, kPrintMatrixAgain));
    }
    row.rest.emplace_back(text);
  }
  row.is_cut = is_last && row.rest.empty();
  return row;
}

}  // namespace moesim
