#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// A colour for each kind of task of a Program. What a task does decides its family: experts are
// green, AlltoAlls orange, AllGathers light blue, so that pictures of two schedules can be held
// side by side. From the palettes of Okabe and Ito (2008) and of Tol (2021), which people tell
// apart whatever their colour vision.
class Palette {
 public:
  explicit Palette(const Program& program);

  // Kinds in order of first use.
  const std::vector<std::string>& kinds() const { return kinds_; }
  const std::string& colour(const std::string& kind) const { return colours_.at(kind); }
  // Black or white, whichever can be read on the kind's colour.
  std::string_view text_colour(const std::string& kind) const;

 private:
  std::vector<std::string> kinds_;
  std::map<std::string, std::string> colours_;
};

}  // namespace moesim
