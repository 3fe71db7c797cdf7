#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace moesim {

// Threads that are made once and work together again and again: creating hundreds of them takes
// longer than many a run.
class Crew {
 public:
  // With `wants_real_time`, threads run as soon as they wake up where the system allows it. Throws
  // Failure, with none left running, where the system starts fewer than `size`.
  Crew(int size, bool wants_real_time);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;

  // True when all threads got real-time priority.
  bool has_real_time();

  // Calls body(0) to body(size - 1), each on a thread of its own. `body` must not throw and must
  // live until finish().
  void start(const std::function<void(int)>& body);
  // Waits until all have returned.
  void finish();

 private:
  void serve(int index, bool wants_real_time);
  void close();

  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable idle_;
  const std::function<void(int)>* body_ = nullptr;
  int round_ = 0;  // counts calls of start
  int num_busy_ = 0;
  int num_real_time_ = 0;
  bool is_closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace moesim
