#include "kernels/cuda/libraries/shared_library.h"

#include <functional>

#include <gmock/gmock.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no Failure";
}

TEST(SharedLibraryTest, FindsFunctions) {
  const SharedLibrary library("libm.so.6", "a C library");
  EXPECT_EQ(library.function<double(double)>("floor")(2.5), 2.0);
}

TEST(SharedLibraryTest, OneThatIsNotThereSaysWhatToInstall) {
  EXPECT_THAT(failure_of([] { SharedLibrary("libnone.so.7", "NCCL 7"); }),
              AllOf(StartsWith("libnone.so.7 cannot be loaded (libnone.so.7: cannot open"),
                    HasSubstr("); install NCCL 7, or have LD_LIBRARY_PATH name its folder")));
}

TEST(SharedLibraryTest, OneOfAnotherVersionSaysWhatItLacks) {
  const SharedLibrary library("libm.so.6", "a C library");
  EXPECT_THAT(failure_of([&] { library.function<void()>("ncclNone"); }),
              StartsWith("libm.so.6 has no ncclNone: it is not of the version"));
}

}  // namespace
}  // namespace moesim
