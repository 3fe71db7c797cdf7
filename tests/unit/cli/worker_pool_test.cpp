// Results reach the parent whatever the number of workers, and what goes wrong in a worker is an
// exception there.
#include "sim/cli/worker_pool.h"

#include <map>
#include <stdexcept>

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

std::map<int, std::string> run(const std::vector<int>& indices,
                               int num_workers,
                               const std::function<std::string(int)>& work) {
  std::map<int, std::string> results;
  run_in_workers({.indices = indices,
                  .work = work,
                  .done = [&](int index, const std::string& text) { results[index] = text; }},
                 num_workers);
  return results;
}

template <typename Exception>
std::string thrown_by(const std::function<std::string(int)>& work) {
  try {
    run({0, 1, 2, 3}, 2, work);
  } catch (const Exception& exception) {
    return exception.what();
  }
  return "nothing was thrown";
}

TEST(WorkerPoolTest, EveryTaskIsDoneOnce) {
  const auto square = [](int index) { return std::to_string(index * index); };
  for (const int num_workers : {1, 2, 7}) {
    EXPECT_THAT(run({3, 1, 2}, num_workers, square),
                UnorderedElementsAre(Pair(1, "1"), Pair(2, "4"), Pair(3, "9")));
  }
}

TEST(WorkerPoolTest, NothingToDo) {
  EXPECT_TRUE(run({}, 4, [](int) { return std::string(); }).empty());
}

TEST(WorkerPoolTest, ResultsMayBeEmptyOrLargerThanASocketHolds) {
  const auto results = run(
      {0, 1 << 22}, 2, [](int size) { return std::string(static_cast<std::size_t>(size), 'x'); });
  EXPECT_EQ(results.at(0), "");
  EXPECT_EQ(results.at(1 << 22), std::string(1 << 22, 'x'));
}

TEST(WorkerPoolTest, WorkRunsInOtherProcesses) {
  const auto results = run({0}, 1, [](int) { return std::to_string(getpid()); });
  EXPECT_NE(results.at(0), std::to_string(getpid()));
}

TEST(WorkerPoolTest, UserErrorsStayUserErrors) {
  const auto message = thrown_by<Error>([](int index) -> std::string {
    throw Error("a.txtpb:1:2", "mistake " + std::to_string(index));
  });
  EXPECT_THAT(message, HasSubstr("a.txtpb:1:2: mistake "));
}

TEST(WorkerPoolTest, OtherExceptionsAreFailures) {
  const auto message = thrown_by<std::runtime_error>(
      [](int) -> std::string { throw std::logic_error("a mistake of ours"); });
  EXPECT_EQ(message, "a mistake of ours");
}

TEST(WorkerPoolTest, DeadWorkerIsReportedWithItsTask) {
  const auto message = thrown_by<std::runtime_error>([](int index) {
    if (index == 2) {
      raise(SIGKILL);
    }
    return std::string("fine");
  });
  EXPECT_EQ(message, "a worker process ended by signal 9 at task 2");
}

TEST(WorkerPoolTest, WorkersOutliveNobody) {
  // One worker sleeps when the failure of the other ends the pool: were it waited for, this
  // test would run into its time limit.
  const auto message = thrown_by<std::runtime_error>([](int index) -> std::string {
    if (index == 1) {
      throw std::runtime_error("stop");
    }
    sleep(3600);
    return "";
  });
  EXPECT_EQ(message, "stop");
}

}  // namespace
}  // namespace moesim
