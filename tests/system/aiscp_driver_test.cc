// SPDX-License-Identifier: MIT
// The copy tool and NVIDIA's driver: when it is opened, and what is said of one that is of no use.

#include "aiscp_fixture.h"

namespace hipfile::test {
namespace {

// As on a machine whose driver is this file.
std::string with_driver(const std::string& library, const std::string& arguments) {
  return "unset HIP_PORTABLE_BACKEND; HIP_PORTABLE_CUDA_LIBRARY=" + library + " $AISCP " +
         arguments;
}

TEST_F(AiscpTest, HostMemoryNeverTouchesTheDriver) {
  make("a", 100000);
  const ProcessResult other = shell(with_driver(ABORTING_CUDA_LIBRARY, "a c"));
  EXPECT_NE(0, other.exit_code) << "the driver of this test does not abort";
  const ProcessResult host = shell(with_driver(ABORTING_CUDA_LIBRARY, "--gpu=host a b"));
  EXPECT_EQ(0, host.exit_code) << host.err;
  expect_content("b", 100000);
}

TEST_F(AiscpTest, DriverOfNoUseIsNamedInOneLine) {
  make("a", 100000);
  const ProcessResult result =
      shell("export FAKE_CUDA_INIT_RESULT=803; " + with_driver(FAKE_CUDA_LIBRARY, "-v a b"));
  EXPECT_EQ(0, result.exit_code);
  expect_content("b", 100000);
  const std::string line =
      "aiscp: the NVIDIA GPU cannot be used (its driver: "
      "hipErrorInsufficientDriver); going through an emulated device in main "
      "memory\n";
  EXPECT_NE(std::string::npos, result.err.find(line)) << result.err;
}

TEST_F(AiscpTest, LittleDeviceMemoryIsEnough) {
  make("a", 40 << 20);
  const ProcessResult result =
      shell("export FAKE_CUDA_MEMORY=6291456; " + with_driver(FAKE_CUDA_LIBRARY, "a b"));
  EXPECT_EQ(0, result.exit_code) << result.err;
  expect_content("b", 40 << 20);
}

TEST_F(AiscpTest, TooLittleDeviceMemoryIsSaid) {
  make("a", 40 << 20);
  make("b", 100, 2);
  const ProcessResult result =
      shell("export FAKE_CUDA_MEMORY=1048576; " + with_driver(FAKE_CUDA_LIBRARY, "a b"));
  expect_failure(result,
                 "aiscp: cannot copy 'a': cannot allocate device memory: hipErrorOutOfMemory");
  expect_content("b", 100, 2);
  EXPECT_EQ((std::vector<std::string>{"a", "b"}), names());
}

// From the Nth call of the driver on the device is lost, N counted up until the copy needs no more.
TEST_F(AiscpTest, DeviceLostInTheMiddleLeavesTheOldDestination) {
  constexpr size_t kSize = (20 << 20) + 5;
  constexpr unsigned kStride = 11, kMost = 2000;
  make("a", kSize);
  unsigned calls = 0;
  for (; calls < kMost; calls += kStride) {
    make("b", 1000, 2);
    const ProcessResult result = shell("export FAKE_CUDA_LOSE_AFTER=" + std::to_string(calls) +
                                       "; " + with_driver(FAKE_CUDA_LIBRARY, "a b"));
    EXPECT_EQ((std::vector<std::string>{"a", "b"}), names()) << calls;
    if (result.exit_code == 0) break;
    ASSERT_EQ(1, result.exit_code) << calls << ": " << result.err;
    EXPECT_NE(std::string::npos, result.err.find("aiscp: ")) << calls << ": " << result.err;
    expect_content("b", 1000, 2);
  }
  EXPECT_GT(calls, 5 * kStride);
  EXPECT_LT(calls, kMost);
  expect_content("b", kSize);
}

}  // namespace
}  // namespace hipfile::test
