#include "tests/property/mutate_text.h"

#include <vector>

namespace moesim {
namespace {

std::size_t index(Random& random, std::size_t size) {
  return static_cast<std::size_t>(random.uniform_int(0, static_cast<std::int64_t>(size) - 1));
}

}  // namespace

std::string mutate(std::string text, Random& random) {
  const std::vector<std::string> numbers = {
      "-1", "0", "2147483647", "99999999999999999999", "1e308", "nan", "0.5", "\"\"", "[", "}"};
  for (std::int64_t left = random.uniform_int(1, 3); left > 0 && !text.empty(); --left) {
    const std::size_t at = index(random, text.size());
    const std::size_t length = 1 + index(random, 12);
    switch (random.uniform_int(0, 5)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(random.uniform_int(0, 255));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.insert(index(random, text.size()), text.substr(at, length));
        break;
      default: {
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) {
          const std::size_t end = text.find_first_not_of("0123456789", digit);
          text.replace(digit, end - digit, numbers[index(random, numbers.size())]);
        }
      }
    }
  }
  return text;
}

}  // namespace moesim
