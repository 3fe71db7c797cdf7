#include "sim/cli/worker_pool.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

// One end of a stream between the parent and a worker.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket(Socket&&) = delete;
  Socket& operator=(Socket&&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Both return false when the other side is gone.
  bool send(const void* data, std::size_t size) const {
    const char* next = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t sent = ::send(descriptor_, next, size, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) {
        continue;
      }
      if (sent <= 0) {
        return false;
      }
      next += sent;
      size -= static_cast<std::size_t>(sent);
    }
    return true;
  }

  bool receive(void* data, std::size_t size) const {
    char* next = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t received = ::recv(descriptor_, next, size, 0);
      if (received < 0 && errno == EINTR) {
        continue;
      }
      if (received <= 0) {
        return false;
      }
      next += received;
      size -= static_cast<std::size_t>(received);
    }
    return true;
  }

 private:
  int descriptor_;
};

enum class Outcome : std::int32_t { kResult, kUserError, kFailure };

// What a worker answers. A result or the text of what the task threw follows it.
struct AnswerHeader {
  Outcome outcome = Outcome::kResult;
  std::uint32_t size = 0;
};

AnswerHeader answer(const std::function<std::string(int)>& work, int index, std::string& text) {
  AnswerHeader header;
  try {
    text = work(index);
  } catch (const Error& error) {
    text = error.what();
    header.outcome = Outcome::kUserError;
  } catch (const std::exception& error) {
    text = error.what();
    header.outcome = Outcome::kFailure;
  }
  header.size = static_cast<std::uint32_t>(text.size());
  return header;
}

// The life of a worker: until the parent closes its end.
void serve(const Socket& parent, const std::function<std::string(int)>& work) {
  std::int32_t index = 0;
  std::string text;
  while (parent.receive(&index, sizeof index)) {
    const AnswerHeader header = answer(work, index, text);
    if (!parent.send(&header, sizeof header) || !parent.send(text.data(), text.size())) {
      return;
    }
  }
}

struct Worker {
  pid_t process = 0;  // 0: it has ended and was waited for
  std::unique_ptr<Socket> socket;
  std::int32_t index = -1;  // of the task it works on; -1: none
};

class WorkerPool {
 public:
  WorkerPool(const WorkerTasks& tasks, int num_workers) : tasks_(tasks) {
    std::fflush(nullptr);  // or each worker inherits, and might print, what is buffered
    for (int i = 0; i < num_workers; ++i) {
      start_worker();
    }
  }

  ~WorkerPool() {
    for (Worker& worker : workers_) {
      worker.socket.reset();  // an idle worker ends by itself
      if (worker.process != 0 && worker.index >= 0) {
        kill(worker.process, SIGKILL);
      }
      if (worker.process != 0) {
        waitpid(worker.process, nullptr, 0);
      }
    }
  }

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  WorkerPool(WorkerPool&&) = delete;
  WorkerPool& operator=(WorkerPool&&) = delete;

  void run() {
    for (Worker& worker : workers_) {
      give_next(worker);
    }
    while (num_busy_ > 0) {
      for (Worker* worker : wait_for_answers()) {
        take_answer(*worker);
        give_next(*worker);
      }
    }
  }

 private:
  void start_worker() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
      throw std::runtime_error(fmt::format("no socket for a worker: {}", std::strerror(errno)));
    }
    auto parent_end = std::make_unique<Socket>(ends[0]);
    const Socket child_end(ends[1]);
    const pid_t process = fork();
    if (process < 0) {
      throw std::runtime_error(fmt::format("no worker process: {}", std::strerror(errno)));
    }
    if (process == 0) {
      // Ends of other workers kept open here would hide from them that the parent is gone.
      parent_end.reset();
      for (Worker& worker : workers_) {
        worker.socket.reset();
      }
      serve(child_end, tasks_.work);
      _exit(0);  // no destructors: they belong to the parent
    }
    workers_.push_back({process, std::move(parent_end), -1});
  }

  void give_next(Worker& worker) {
    if (next_ == tasks_.indices.size()) {
      return;
    }
    worker.index = tasks_.indices[next_++];
    ++num_busy_;
    if (!worker.socket->send(&worker.index, sizeof worker.index)) {
      report_death(worker);
    }
  }

  std::vector<Worker*> wait_for_answers() {
    std::vector<pollfd> sockets;
    for (const Worker& worker : workers_) {
      const int descriptor = worker.index >= 0 ? worker.socket->descriptor() : -1;
      sockets.push_back({descriptor, POLLIN, 0});
    }
    while (poll(sockets.data(), sockets.size(), -1) < 0) {
      if (errno != EINTR) {
        throw std::runtime_error(fmt::format("waiting for workers: {}", std::strerror(errno)));
      }
    }
    std::vector<Worker*> ready;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents != 0) {
        ready.push_back(&workers_[i]);
      }
    }
    return ready;
  }

  void take_answer(Worker& worker) {
    AnswerHeader header;
    if (!worker.socket->receive(&header, sizeof header)) {
      report_death(worker);
    }
    std::string text(header.size, '\0');
    if (!worker.socket->receive(text.data(), text.size())) {
      report_death(worker);
    }
    const int index = std::exchange(worker.index, -1);
    --num_busy_;
    if (header.outcome == Outcome::kUserError) {
      throw Error(text);
    }
    if (header.outcome == Outcome::kFailure) {
      throw std::runtime_error(text);
    }
    tasks_.done(index, text);
  }

  [[noreturn]] static void report_death(Worker& worker) {
    int status = 0;
    waitpid(std::exchange(worker.process, 0), &status, 0);
    const std::string how = WIFSIGNALED(status)
                                ? fmt::format("by signal {}", WTERMSIG(status))
                                : fmt::format("with exit code {}", WEXITSTATUS(status));
    throw std::runtime_error(
        fmt::format("a worker process ended {} at task {}", how, worker.index));
  }

  const WorkerTasks& tasks_;
  std::vector<Worker> workers_;
  std::size_t next_ = 0;
  int num_busy_ = 0;
};

}  // namespace

void run_in_workers(const WorkerTasks& tasks, int num_workers) {
  const int useful = std::min(num_workers, static_cast<int>(tasks.indices.size()));
  WorkerPool(tasks, useful).run();
}

}  // namespace moesim
