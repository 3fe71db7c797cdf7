#include "sim/cli/junit.h"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

namespace moesim {
namespace {

std::string escaped(std::string_view text) {
  std::string xml;
  for (const char character : text) {
    switch (character) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      case '\n':
        xml += "&#10;";
        break;
      default:
        if (static_cast<unsigned char>(character) >= 0x20) {
          xml += character;
        }
    }
  }
  return xml;
}

std::string to_xml(const JunitCase& test) {
  const std::string head = fmt::format(
      R"(    <testcase classname="{}" name="{}")", escaped(test.group), escaped(test.name));
  if (test.failure.empty()) {
    return head + "/>\n";
  }
  return head + fmt::format(">\n      <failure message=\"{}\"/>\n    </testcase>\n",
                            escaped(test.failure));
}

}  // namespace

std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases) {
  const auto failures = std::count_if(
      cases.begin(), cases.end(), [](const JunitCase& test) { return !test.failure.empty(); });
  const std::string counts =
      fmt::format(R"(tests="{}" failures="{}" errors="0")", cases.size(), failures);
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format(
      "<testsuites {}>\n  <testsuite name=\"{}\" {}>\n", counts, escaped(suite), counts);
  for (const JunitCase& test : cases) {
    xml += to_xml(test);
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace moesim
