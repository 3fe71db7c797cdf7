#pragma once

#include <string>
#include <vector>

namespace moesim {

// MPI, from initialization to the end: one object in a process, made and destroyed by one thread.
// In between one thread at a time may call MPI (MPI_THREAD_SERIALIZED).
class MpiWorld {
 public:
  // Throws Failure where MPI cannot start.
  MpiWorld();
  // Waits for the other processes, but not while an exception flies: then abort() is due.
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  MpiWorld(MpiWorld&&) = delete;
  MpiWorld& operator=(MpiWorld&&) = delete;

  int process() const { return process_; }
  int num_processes() const { return num_processes_; }
  // Of them, those that share this machine's memory.
  int num_here() const { return num_here_; }
  // Among them, in order of their numbers.
  int place_here() const { return place_here_; }

  // What every process on this machine says, by their places here. All of them call it, while no
  // other thread calls MPI.
  std::vector<std::string> tell_here(const std::string& text) const;

  // The number of a new run, alike on all processes when all count in step.
  int count_run() { return ++num_runs_; }

  // Ends all processes with this exit code. Does not return.
  [[noreturn]] static void abort(int exit_code);

 private:
  int process_ = 0;
  int num_processes_ = 0;
  int num_here_ = 0;
  int place_here_ = 0;
  int num_runs_ = 0;
};

}  // namespace moesim
