#pragma once

#include <string>
#include <vector>

namespace moesim {

struct JunitCase {
  std::string group;  // the file that holds it
  std::string name;
  std::string failure;  // empty: passed
};

// One test suite as JUnit XML. Bytes that XML cannot hold are left out.
std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases);

}  // namespace moesim
