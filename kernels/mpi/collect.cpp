#include "kernels/mpi/collect.h"

#include <cstdint>
#include <span>

#include "kernels/mpi/tags.h"

namespace moesim {
namespace {

Message message(int process, std::string& bytes) {
  return {process, kCollectTag, std::as_writable_bytes(std::span(bytes))};
}

Message message(int process, int64_t& size) {
  return {process, kCollectTag, std::as_writable_bytes(std::span(&size, 1))};
}

std::vector<std::string> receive_all(Courier& courier, std::string own) {
  std::vector<int64_t> sizes(courier.num_processes());
  std::vector<Message> messages;
  for (int other = 1; other < courier.num_processes(); ++other) {
    messages.push_back(message(other, sizes[other]));
  }
  courier.exchange({}, messages);
  std::vector<std::string> all(sizes.size());
  messages.clear();
  for (int other = 1; other < courier.num_processes(); ++other) {
    all[other].resize(sizes[other]);
    messages.push_back(message(other, all[other]));
  }
  courier.exchange({}, messages);
  all.front() = std::move(own);
  return all;
}

}  // namespace

std::vector<std::string> gather(Courier& courier, std::string bytes) {
  if (courier.process() == 0) {
    return receive_all(courier, std::move(bytes));
  }
  auto size = static_cast<int64_t>(bytes.size());
  courier.exchange({message(0, size)}, {});
  courier.exchange({message(0, bytes)}, {});
  return {};
}

std::string broadcast(Courier& courier, std::string bytes) {
  auto size = static_cast<int64_t>(bytes.size());
  if (courier.process() != 0) {
    courier.exchange({}, {message(0, size)});
    bytes.resize(size);
    courier.exchange({}, {message(0, bytes)});
    return bytes;
  }
  std::vector<Message> messages;
  for (int other = 1; other < courier.num_processes(); ++other) {
    messages.push_back(message(other, size));
    messages.push_back(message(other, bytes));
  }
  courier.exchange(messages, {});
  return bytes;
}

void barrier(Courier& courier) {
  gather(courier, {});
  broadcast(courier, {});
}

}  // namespace moesim
