#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace moesim {

// Ends this process, with a message and exit code 1, unless it is destroyed in time: for calls of
// MPI that wait for all processes, which no other process can end.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds patience, std::string message);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  Deadline(Deadline&&) = delete;
  Deadline& operator=(Deadline&&) = delete;

 private:
  void watch(std::chrono::milliseconds patience, const std::string& message);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_met_ = false;
  std::thread thread_;
};

}  // namespace moesim
