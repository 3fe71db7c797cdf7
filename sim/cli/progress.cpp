#include "sim/cli/progress.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/cli/output.h"

namespace moesim {

Progress::Progress(std::string things, int total)
    : things_(std::move(things)), total_(total), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) {
    print_error("\r\x1b[K");
  }
}

void Progress::add_one() {
  ++done_;
  constexpr std::chrono::milliseconds kInterval(100);
  const Clock::time_point now = Clock::now();
  if (shown_ && now - last_shown_ >= kInterval) {
    last_shown_ = now;
    show();
  }
}

// The rest is taken to last as long per thing as those done so far.
void Progress::show() {
  const double elapsed = std::chrono::duration<double>(last_shown_ - start_).count();
  const double left = elapsed / done_ * (total_ - done_);
  print_error(
      fmt::format("\r{}/{} {}, {} left\x1b[K", done_, total_, things_, duration_text(left)));
}

std::string duration_text(double seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr double kYear = 365.0 * 24 * kHour;
  if (seconds >= kYear) {
    return fmt::format("{:.2g} years", seconds / kYear);
  }
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < kMinute) {
    return fmt::format("{} s", whole);
  }
  const std::int64_t minutes = (whole + kMinute - 1) / kMinute;
  if (whole < kHour) {
    return fmt::format("{} min", minutes);
  }
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace moesim
