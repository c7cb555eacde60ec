// SPDX-License-Identifier: MIT
// Transfers around the cap of one call. Needs 2 GiB of device memory and is run once, not in every
// variant.
#include <unistd.h>

#include <algorithm>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

class BigTest : public ApiTest {
 protected:
  static constexpr size_t kSize = kSizeCap + 8192;
};

TEST_F(BigTest, OneCallMovesAtMostTheCap) {
  RegisteredFile f(file("f"), 0, 0);
  ASSERT_EQ(0, ::ftruncate(f.fd(), static_cast<off_t>(kSize)));
  const std::vector<uint8_t> mark = make_pattern(8192, 1);
  ASSERT_EQ(8192, ::pwrite(f.fd(), mark.data(), 8192, static_cast<off_t>(kSizeCap - 4096)));
  void* device = nullptr;
  if (hipMalloc(&device, kSize) != hipSuccess) GTEST_SKIP() << "no 2 GiB of device memory";
  ASSERT_EQ(hipSuccess, hipMemset(static_cast<uint8_t*>(device) + kSizeCap, 0xee, 8192));
  EXPECT_EQ(static_cast<ssize_t>(kSizeCap), hipFileRead(f.handle(), device, kSize, 0, 0));
  std::vector<uint8_t> tail(8192);
  ASSERT_EQ(hipSuccess, hipMemcpy(tail.data(), static_cast<uint8_t*>(device) + kSizeCap - 4096,
                                  8192, hipMemcpyDeviceToHost));
  EXPECT_TRUE(std::equal(tail.begin(), tail.begin() + 4096, mark.begin()));
  EXPECT_EQ(std::vector<uint8_t>(4096, 0xee),
            std::vector<uint8_t>(tail.begin() + 4096, tail.end()));
  // The rest of the copy, as a caller's loop does it.
  EXPECT_EQ(8192, hipFileRead(f.handle(), device, 8192, static_cast<hoff_t>(kSizeCap), 0));
  EXPECT_EQ(hipSuccess, hipFree(device));
}

TEST_F(BigTest, OneWriteMovesAtMostTheCap) {
  RegisteredFile f(file("f"), 0, 0);
  void* device = nullptr;
  if (hipMalloc(&device, kSize) != hipSuccess) GTEST_SKIP() << "no 2 GiB of device memory";
  EXPECT_EQ(static_cast<ssize_t>(kSizeCap), hipFileWrite(f.handle(), device, kSize, 0, 0));
  EXPECT_EQ(static_cast<off_t>(kSizeCap), file_size(f.path()));
  EXPECT_EQ(hipSuccess, hipFree(device));
}

}  // namespace
}  // namespace hipfile::test
