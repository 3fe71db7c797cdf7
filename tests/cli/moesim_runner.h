#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace moesim {

// What a run of the binary left behind.
struct Outcome {
  int exit_code = -1;  // 128 + the signal where one ended it
  std::string out;
  std::string err;
};

// A folder of its own for each test, removed afterwards, in which programs run.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Runs moesim with these words and waits for it.
  Outcome run(const std::vector<std::string>& words) const;
  // The same with another program: its path, or a name to be found on PATH.
  Outcome run_program(const std::string& program, const std::vector<std::string>& words) const;

  // Starts it in the background; its output is lost. `finish` waits for it.
  pid_t start(const std::vector<std::string>& words) const;
  static int finish(pid_t process);

  std::string path(const std::string& name) const;
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const;
  std::vector<std::string> files() const;  // names, in order

 private:
  std::string folder_;
};

}  // namespace moesim
