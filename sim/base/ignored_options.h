#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace moesim {

// Options that would have no effect on a command line: nobody shall believe that they had one. What
// a command's options need stands in a table of these, a line for each reason.
struct IgnoredOptions {
  std::vector<std::string_view> options;
  bool applies = false;  // to this command line
  std::string_view why;  // "has no effect with --clock raw, which paces nothing"
  std::string_view remedy = "leave it out";
};

// Throws Error at the first option of the first line that applies and that was given, also with its
// default: "--ctas is an option of --backend cuda; leave it out".
void refuse_ignored(const std::vector<IgnoredOptions>& table,
                    const std::function<bool(const std::string&)>& was_given);

}  // namespace moesim
