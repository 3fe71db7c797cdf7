#pragma once

#include <map>
#include <string>

#include <CLI/App.hpp>
#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {

// An option whose value is one of a few words.
template <typename Value>
void add_choice(CLI::App& app,
                const std::string& name,
                Value& value,
                const std::map<std::string, Value>& words,
                const std::string& description) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : "|") + word.first;
  }
  const auto parse = [&value, words, name, text](const std::string& word) {
    const auto found = words.find(word);
    if (found == words.end()) {
      throw Error(fmt::format("{} {}: say one of {}", name, word, text));
    }
    value = found->second;
  };
  app.add_option_function<std::string>(name, parse, description)->option_text(text);
}

}  // namespace moesim
