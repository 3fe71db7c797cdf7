// Three ranks on threads of their own.
#include "kernels/host/thread_peers.h"

#include <functional>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "kernels/hang.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kNumRanks = 3;

class ThreadPeersTest : public testing::Test {
 protected:
  ThreadPeersTest() : hand_(kNumRanks, {"s"}) {
    hand_.add_collective("c", 0, all_to_all(hand_.add_group("all", {{0, 1, 2}})), ps(1));
    GroupTable groups;
    groups.update(hand_.program());
    script_ = make_host_script(hand_.program(), groups, 32);
    peers_.emplace(hand_.program(), script_);
  }

  // What each rank threw, "" for nothing.
  std::vector<std::string> on_threads(const std::function<void(RankPeers&)>& body) {
    std::vector<std::string> errors(kNumRanks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kNumRanks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(peers_->of(rank));
        } catch (const std::exception& error) {
          errors[static_cast<size_t>(rank)] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return errors;
  }

  HandProgram hand_;
  HostScript script_;
  std::optional<ThreadPeers> peers_;
};

TEST_F(ThreadPeersTest, GatherAndBroadcast) {
  const auto errors = on_threads([](RankPeers& peers) {
    for (int round = 0; round < 200; ++round) {
      const std::string own = std::to_string(10 * round + peers.rank());
      const auto all = peers.gather(own);
      if (peers.rank() == 0) {
        EXPECT_THAT(
            all, ElementsAre(own, std::to_string(10 * round + 1), std::to_string(10 * round + 2)));
      } else {
        EXPECT_THAT(all, IsEmpty());
      }
      EXPECT_EQ(peers.broadcast(own), std::to_string(10 * round));
    }
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_F(ThreadPeersTest, StartAtTheSameMoment) {
  std::mutex mutex;
  std::set<MonotonicTime> starts;
  on_threads([&](RankPeers& peers) {
    const MonotonicTime start = peers.agree_on_start();
    const std::lock_guard lock(mutex);
    starts.insert(start);
  });
  EXPECT_EQ(starts.size(), 1U);
}

// Rank 1 fails before the others' meeting, and later ones see it, too.
TEST_F(ThreadPeersTest, AFailureEndsAll) {
  const auto errors = on_threads([](RankPeers& peers) {
    if (peers.rank() == 1) {
      peers.fail(std::make_exception_ptr(Failure("a broken link")));
      peers.watch(std::nullopt);
    }
    peers.gather({});
  });
  EXPECT_THAT(errors, Each("a broken link"));
}

// Ranks 0 and 2 are in the collective; rank 1 stands before it.
TEST_F(ThreadPeersTest, StandstillsOfAllAreAHang) {
  const auto errors = on_threads([](RankPeers& peers) {
    peers.agree_on_start();
    Standstill standstill{
        Time::from_seconds(0), Time::from_seconds(1), {{false, false, false}}, {}};
    standstill.left = standstill.arrived;
    standstill.arrived[0][static_cast<size_t>(peers.rank())] = peers.rank() != 1;
    try {
      peers.watch(standstill);
      peers.gather({});  // until somebody finds it out
    } catch (...) {
      peers.fail(std::current_exception());
      throw;
    }
  });
  EXPECT_THAT(errors, Each(HasSubstr("rank 1 did not arrive")));
}

}  // namespace
}  // namespace moesim
