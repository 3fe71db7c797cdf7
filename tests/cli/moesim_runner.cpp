#include "tests/cli/moesim_runner.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace moesim {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void redirect(int descriptor, const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(file, descriptor);
  close(file);
}

// The program in a process of its own, its output in the two files.
pid_t spawn(const std::string& program,
            const std::vector<std::string>& words,
            const std::string& folder,
            const std::string& out,
            const std::string& err) {
  std::vector<char*> arguments;
  std::string name = fs::path(program).filename().string();
  std::vector<std::string> copies = words;
  arguments.push_back(name.data());
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    redirect(STDIN_FILENO, "/dev/null");
    redirect(STDOUT_FILENO, out);
    redirect(STDERR_FILENO, err);
    if (chdir(folder.c_str()) == 0) {
      execvp(program.c_str(), arguments.data());
    }
    _exit(127);
  }
  return process;
}

}  // namespace

Workspace::Workspace() {
  std::string pattern = testing::TempDir() + "moesim_cli_" + std::string(6, 'X');
  folder_ = mkdtemp(pattern.data());
}

Workspace::~Workspace() {
  fs::remove_all(folder_);
}

Outcome Workspace::run(const std::vector<std::string>& words) const {
  return run_program(MOESIM_BINARY, words);
}

Outcome Workspace::run_program(const std::string& program,
                               const std::vector<std::string>& words) const {
  // Beside the folder, so that a test sees there only what moesim wrote.
  const std::string out = folder_ + ".out";
  const std::string err = folder_ + ".err";
  Outcome outcome;
  outcome.exit_code = finish(spawn(program, words, folder_, out, err));
  outcome.out = content_of(out);
  outcome.err = content_of(err);
  fs::remove(out);
  fs::remove(err);
  return outcome;
}

pid_t Workspace::start(const std::vector<std::string>& words) const {
  return spawn(MOESIM_BINARY, words, folder_, "/dev/null", "/dev/null");
}

int Workspace::finish(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Workspace::path(const std::string& name) const {
  return folder_ + "/" + name;
}

void Workspace::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string Workspace::read(const std::string& name) const {
  return content_of(path(name));
}

bool Workspace::exists(const std::string& name) const {
  return fs::exists(path(name));
}

std::vector<std::string> Workspace::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace moesim
