// Ranks are threads; NCCL is tests/support/fake_nccl. Four ranks in two pairs.
#include "kernels/cuda/nccl/communicators.h"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <gmock/gmock.h>

#include "kernels/cuda/nccl/nccl_call.h"
#include "tests/support/hand_program.h"
#include "tests/unit/kernels/cuda/nccl/rank_threads.h"

namespace moesim {
namespace {

using namespace test;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr int kNumRanks = 4;

class CommunicatorsTest : public testing::Test {
 protected:
  CommunicatorsTest() : hand_(kNumRanks, {"s", "t"}) {
    fake_nccl::reset();
    pairs_ = hand_.add_group("pairs", {{0, 1}, {2, 3}});
    three_ = hand_.add_group("three", {{3, 1, 0}});
    hand_.add_collective("c", 0, all_to_all(pairs_), ps(1));
    hand_.add_collective("c", 1, all_to_all(three_), ps(1));
    groups_.update(hand_.program());
    id_ = draw_unique_id();
  }
  ~CommunicatorsTest() override { EXPECT_EQ(fake_nccl::num_communicators(), 0); }

  std::unique_ptr<Communicators> made(int rank, const CommunicatorOptions& options = {}) {
    auto communicators = std::make_unique<Communicators>(WorldPlace{kNumRanks, rank}, options);
    communicators->connect(id_, hand_.program(), groups_);
    return communicators;
  }

  // What member 0 has, gathered by every rank.
  float value_of_first(Communicators& communicators, const CommunicatorKey& key, int rank) {
    float& value = values_[static_cast<size_t>(rank)];
    value = static_cast<float>(rank);
    enqueue_broadcast(communicators, key, rank);
    streams_.wait(SimpleStreams::stream(rank));
    return value;
  }

  // Of the rank's value, on its stream.
  void enqueue_broadcast(Communicators& communicators, const CommunicatorKey& key, int rank) {
    float* value = &values_[static_cast<size_t>(rank)];
    communicators.enqueue(key, "c", [&](ncclComm_t handle) {
      check_nccl(
          ncclBroadcast(value, value, 1, ncclFloat32, 0, handle, SimpleStreams::stream(rank)),
          "ncclBroadcast");
    });
  }

  HandProgram hand_;
  GroupTable groups_;
  SimpleStreams streams_;
  std::array<float, kNumRanks> values_{};  // by rank
  int pairs_ = 0;
  int three_ = 0;
  ncclUniqueId id_{};
};

// A broadcast of member 0's rank: 0 and 2 of the pairs, 3 of the three.
TEST_F(CommunicatorsTest, AreThoseOfTheGroups) {
  const auto errors = on_threads(kNumRanks, [&](int rank) {
    const auto communicators = made(rank);
    EXPECT_EQ(value_of_first(*communicators, {pairs_, 0}, rank), rank < 2 ? 0 : 2);
    if (rank != 2) {
      EXPECT_EQ(value_of_first(*communicators, {three_, 1}, rank), 3);
    }
    communicators->close();
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_F(CommunicatorsTest, TakeTheirCtasFromTheirStream) {
  CommunicatorOptions options;
  options.ctas = {1, 16};
  options.ctas_on_stream["t"] = {2, 4};
  const auto errors = on_threads(kNumRanks, [&](int rank) {
    const auto communicators = made(rank, options);
    const auto most_ctas = [&](const CommunicatorKey& key) {
      int most = 0;
      communicators->enqueue(
          key, "c", [&](ncclComm_t handle) { most = fake_nccl::made(handle).max_ctas; });
      return most;
    };
    EXPECT_EQ(most_ctas({pairs_, 0}), 16);
    if (rank != 2) {
      EXPECT_EQ(most_ctas({three_, 1}), 4);
    }
    communicators->close();
  });
  EXPECT_THAT(errors, Each(""));
}

// Whoever's call fails says which and where; the others, which wait for it, are aborted.
TEST_F(CommunicatorsTest, EveryCallThatFailsIsNamed) {
  for (const char* function : {"ncclCommInitRankConfig",
                               "ncclCommSplit",
                               "ncclCommGetAsyncError",
                               "ncclGroupStart",
                               "ncclBroadcast",
                               "ncclGroupEnd",
                               "ncclCommFinalize",
                               "ncclCommDestroy"}) {
    SCOPED_TRACE(function);
    fake_nccl::reset();
    id_ = draw_unique_id();
    fake_nccl::fail(function, 1, ncclSystemError);
    std::vector<std::unique_ptr<Communicators>> all;
    for (int rank = 0; rank < kNumRanks; ++rank) {
      all.push_back(
          std::make_unique<Communicators>(WorldPlace{kNumRanks, rank}, CommunicatorOptions{}));
    }
    const auto errors = on_threads(kNumRanks, [&](int rank) {
      Communicators& own = *all[static_cast<size_t>(rank)];
      try {
        own.connect(id_, hand_.program(), groups_);
        value_of_first(own, {pairs_, 0}, rank);
        own.close();
      } catch (...) {
        for (const auto& other : all) {
          other->abort();
        }
        throw;
      }
    });
    EXPECT_THAT(errors,
                testing::Contains(
                    AllOf(HasSubstr(function), HasSubstr("failed: unhandled system error at "))));
    EXPECT_EQ(fake_nccl::num_communicators(), 0);
  }
}

// A peer that died shows in the state of a communicator after the calls have returned.
TEST_F(CommunicatorsTest, ErrorsThatComeLaterAreFoundByPolling) {
  const auto errors = on_threads(kNumRanks, [&](int rank) {
    const auto communicators = made(rank);
    communicators->poll();
    if (rank == 1) {
      fake_nccl::raise(1, ncclRemoteError);
      communicators->poll();
    }
    communicators->abort();
    communicators->poll();  // nothing is left that could fail
  });
  EXPECT_THAT(errors[1],
              AllOf(HasSubstr("a collective of group 'pairs' on stream 's' failed: "),
                    HasSubstr("remote process exited")));
}

// Rank 1 does not come. The others wait in their calls until somebody ends them.
TEST_F(CommunicatorsTest, AbortEndsWhoWaitsForAPeer) {
  std::vector<std::unique_ptr<Communicators>> all;
  for (int rank = 0; rank < kNumRanks; ++rank) {
    all.push_back(
        std::make_unique<Communicators>(WorldPlace{kNumRanks, rank}, CommunicatorOptions{}));
  }
  const auto errors = on_threads(kNumRanks, [&](int rank) {
    if (rank != 1) {
      all[static_cast<size_t>(rank)]->connect(id_, hand_.program(), groups_);
      return;
    }
    while (fake_nccl::num_communicators() < kNumRanks - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (const auto& one : all) {
      one->abort();
    }
  });
  EXPECT_THAT(errors,
              testing::ElementsAre(HasSubstr("ended"), "", HasSubstr("ended"), HasSubstr("ended")));
  EXPECT_EQ(fake_nccl::num_communicators(), 0);
}

// Another thread aborts between two collectives of the issuing one.
TEST_F(CommunicatorsTest, NothingIsEnqueuedAfterAbort) {
  const auto errors = on_threads(kNumRanks, [&](int rank) {
    const auto communicators = made(rank);
    communicators->abort();
    communicators->enqueue({pairs_, 0}, "c", [](ncclComm_t) { FAIL(); });
  });
  EXPECT_THAT(errors, Each(HasSubstr("NCCL was ended by this process")));
}

// Work of two communicators stands on a stream that nobody runs: each could wait for the other one.
TEST_F(CommunicatorsTest, AreAbortedTogether) {
  const auto errors = on_threads(kNumRanks, [&](int rank) {
    const auto communicators = made(rank);
    enqueue_broadcast(*communicators, {pairs_, 0}, rank);
    if (rank != 2) {
      enqueue_broadcast(*communicators, {three_, 1}, rank);
    }
    communicators->abort();
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_EQ(fake_nccl::num_communicators(), 0);
}

// A call that does not return keeps nobody from looking at communicators, nor from ending them.
TEST_F(CommunicatorsTest, AbortEndsACallThatHangs) {
  std::vector<std::unique_ptr<Communicators>> all(kNumRanks);
  on_threads(kNumRanks, [&](int rank) { all[static_cast<size_t>(rank)] = made(rank); });
  fake_nccl::hang_in_group_end();
  std::atomic<bool> is_calling = false;
  const auto errors = on_threads(2, [&](int thread) {
    if (thread == 0) {
      is_calling = true;
      enqueue_broadcast(*all[0], {pairs_, 0}, 0);
      return;
    }
    while (!is_calling) {
      std::this_thread::yield();
    }
    all[0]->poll();
    all[0]->abort();
  });
  EXPECT_THAT(errors, testing::ElementsAre(HasSubstr("NCCL was ended by this process"), ""));
}

// An exception between connect() and close() leaves nothing behind: see the destructor above.
TEST_F(CommunicatorsTest, WhatIsNotClosedIsAborted) {
  on_threads(kNumRanks, [&](int rank) { made(rank); });
  EXPECT_EQ(fake_nccl::num_communicators(), 0);
}

}  // namespace
}  // namespace moesim
