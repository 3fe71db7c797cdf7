#include "sim/base/ignored_options.h"

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {

void refuse_ignored(const std::vector<IgnoredOptions>& table,
                    const std::function<bool(const std::string&)>& was_given) {
  for (const IgnoredOptions& line : table) {
    for (const std::string_view option : line.options) {
      if (line.applies && was_given(std::string(option))) {
        throw Error(fmt::format("{} {}; {}", option, line.why, line.remedy));
      }
    }
  }
}

}  // namespace moesim
