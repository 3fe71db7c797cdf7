#include "tests/tidy/functions.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/core.h>

namespace moesim::tidy {
namespace {

bool is_word_character(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

// Replaces everything but line ends by spaces, from `from` up to `to`.
void blank(std::string& text, std::size_t from, std::size_t to) {
  std::replace_if(
      text.begin() + static_cast<std::ptrdiff_t>(from),
      text.begin() + static_cast<std::ptrdiff_t>(to),
      [](char c) { return c != '\n'; },
      ' ');
}

std::size_t after(const std::string& text, std::string_view end, std::size_t from) {
  const std::size_t found = text.find(end, from);
  return found == std::string::npos ? text.size() : found + end.size();
}

// The end of the literal that opens at `from` with a quote: the same quote without a backslash.
std::size_t literal_end(const std::string& text, std::size_t from) {
  std::size_t at = from + 1;
  while (at < text.size() && text[at] != text[from] && text[at] != '\n') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return std::min(at + 1, text.size());
}

std::size_t raw_literal_end(const std::string& text, std::size_t from) {
  const std::size_t open = text.find('(', from);
  const std::string delimiter = text.substr(from + 2, open - from - 2);
  return after(text, ")" + delimiter + "\"", open);
}

// Where the piece that is no code ends, or `at` when code stands there.
std::size_t skip_end(const std::string& text, std::size_t at) {
  const std::string_view rest = std::string_view(text).substr(at);
  const bool word_before = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0);
  if (rest.starts_with("//")) {
    return std::min(text.find('\n', at), text.size());
  }
  if (rest.starts_with("/*")) {
    return after(text, "*/", at + 2);
  }
  if (rest.starts_with("R\"") && !word_before) {
    return raw_literal_end(text, at);
  }
  // A quote inside a number separates its digits: 1'000.
  if (rest.starts_with('"') || (rest.starts_with('\'') && !word_before)) {
    return literal_end(text, at);
  }
  return at;
}

// Whether `word` stands in `text` with no letter, digit or underscore beside it.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_word_character(text[at - 1]);
    if (starts && (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

constexpr auto kContainerWords =
    std::to_array<std::string_view>({"namespace", "class", "struct", "union", "enum", "extern"});

bool opens_container(std::string_view text) {
  return std::any_of(kContainerWords.begin(), kContainerWords.end(), [text](std::string_view word) {
    return has_word(text, word);
  });
}

enum class Block { kContainer, kFunction, kOther };

// What the block is that `head` opens, outside of every function.
Block classify(const std::string& head, Block previous) {
  const std::size_t parenthesis = head.find('(');
  if (opens_container(head.substr(0, parenthesis))) {
    return Block::kContainer;
  }
  if (parenthesis == std::string::npos) {
    // The body after a constructor's last initialiser in braces has no head of its own.
    const bool empty = head.find_first_not_of(" \n") == std::string::npos;
    return empty ? previous : Block::kOther;
  }
  const bool initialiser = head.substr(0, parenthesis).find('=') != std::string::npos;
  const bool excused = head.find("operator") != head.npos || has_word(head, "template");
  return initialiser && !excused ? Block::kOther : Block::kFunction;
}

struct OpenBlock {
  Block kind;
  std::size_t line_index;
  Block previous;  // of the blocks inside, the one closed last
};

// Finds functions and calls report(first line, last line) for each.
template <typename Report>
void for_each_function(const std::string& code, Report report) {
  std::vector<OpenBlock> open = {{Block::kContainer, 0, Block::kOther}};
  std::string head;
  std::size_t line_index = 0;
  for (const char character : code) {
    line_index += character == '\n' ? 1 : 0;
    if (character == '{') {
      const bool outside = open.back().kind == Block::kContainer;
      const Block kind = outside ? classify(head, open.back().previous) : Block::kOther;
      open.push_back({kind, line_index, Block::kOther});
    } else if (character == '}' && open.size() > 1) {
      if (open.back().kind == Block::kFunction) {
        report(open.back().line_index, line_index);
      }
      const Block closed = open.back().kind;
      open.pop_back();
      open.back().previous = closed;
    } else if (character != ';') {
      head += character;
      continue;
    } else {
      open.back().previous = Block::kOther;
    }
    head.clear();
  }
}

}  // namespace

std::string code_only(const SourceFile& file) {
  std::string text;
  for (const std::string& line : file.lines) {
    text += line + '\n';
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = skip_end(text, at);
    if (end > at) {
      blank(text, at, end);
      at = end - 1;
    }
  }
  // Preprocessor lines, with those that a backslash continues.
  for (std::size_t at = 0; at < text.size(); at = after(text, "\n", at)) {
    std::size_t end = at;
    if (text[at] == '#') {
      do {
        end = after(text, "\n", end);
      } while (end >= 2 && end < text.size() && text[end - 2] == '\\');
      blank(text, at, end);
      at = end - 1;
    }
  }
  return text;
}

Findings long_functions(const SourceFile& file) {
  Findings findings;
  if (!file.is_code() || file.has_suffix(".proto")) {
    return findings;
  }
  const std::size_t limit = file.has_suffix(".cu") ? kMaxKernelLines : kMaxFunctionLines;
  for_each_function(code_only(file), [&](std::size_t first, std::size_t last) {
    const std::size_t num_lines = last - first + 1;
    if (num_lines > limit) {
      findings.push_back(finding(file, first, fmt::format("a function of {} lines", num_lines)));
    }
  });
  return findings;
}

}  // namespace moesim::tidy
