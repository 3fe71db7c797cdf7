#pragma once

#include <chrono>
#include <string>

namespace moesim {

// "42/100 points, 3 min left" on standard error, where that is a terminal; elsewhere nothing.
class Progress {
 public:
  Progress(std::string things, int total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

  void add_one();

 private:
  using Clock = std::chrono::steady_clock;

  void show();

  std::string things_;
  int total_;
  int done_ = 0;
  bool shown_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = start_;
};

// "40 s", "3 min", "2 h 5 min", rounded up; "3.2 years".
std::string duration_text(double seconds);

}  // namespace moesim
