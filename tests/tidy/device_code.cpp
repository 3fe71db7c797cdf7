#include "tests/tidy/device_code.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/core.h>

#include "tests/tidy/functions.h"
#include "tests/tidy/includes.h"

namespace moesim::tidy {
namespace {

constexpr std::string_view kCore = "kernels/core";
constexpr std::string_view kBlocks = "kernels/device/blocks";

constexpr auto kHeaders = std::to_array<std::string_view>({"cmath", "cstdint", "cstring"});

constexpr auto kStandardNames = std::to_array<std::string_view>({"std::sqrt", "std::memcpy"});

constexpr auto kHostWords = std::to_array<std::string_view>({"throw",
                                                             "try",
                                                             "catch",
                                                             "virtual",
                                                             "dynamic_cast",
                                                             "typeid",
                                                             "new",
                                                             "delete",
                                                             "static",
                                                             "thread_local",
                                                             "CHECK"});

template <typename List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Blocks are made of core functions, not the reverse.
bool may_include(const SourceFile& file, const Include& include) {
  const auto leads_to = [&include](std::string_view folder) {
    return include.path.starts_with(fmt::format("{}/", folder));
  };
  return include.quoted ? leads_to(kCore) || (leads_to(kBlocks) && file.is_under(kBlocks))
                        : contains(kHeaders, include.path);
}

bool may_say(std::string_view word) {
  return word.starts_with("std::") ? contains(kStandardNames, word) : !contains(kHostWords, word);
}

bool is_part_of_name(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_' ||
         character == ':';
}

// Calls report(word, line index) for every name in the code, with the namespaces before it.
template <typename Report>
void for_each_name(const std::string& code, Report report) {
  std::size_t line_index = 0;
  for (auto at = code.begin(); at != code.end();) {
    const auto end = std::find_if_not(at, code.end(), is_part_of_name);
    if (end != at) {
      report(std::string_view(at, end), line_index);
      at = end;
    } else {
      line_index += *at == '\n' ? 1 : 0;
      ++at;
    }
  }
}

}  // namespace

Findings no_device_code(const SourceFile& file) {
  Findings findings;
  if (!file.is_under(kCore) && !file.is_under(kBlocks)) {
    return findings;
  }
  for (const Include& include : includes_of(file)) {
    if (!may_include(file, include)) {
      findings.push_back(finding(
          file, include.line_index, fmt::format("device code may not include {}", include.path)));
    }
  }
  for_each_name(code_only(file), [&](std::string_view word, std::size_t line_index) {
    if (!may_say(word)) {
      findings.push_back(finding(file, line_index, fmt::format("no device code: {}", word)));
    }
  });
  return findings;
}

}  // namespace moesim::tidy
