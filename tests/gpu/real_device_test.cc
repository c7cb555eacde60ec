// SPDX-License-Identifier: MIT
//
// What tells a real device from a pretended one: its free memory falls and rises with allocations,
// a kernel sees the bytes that were read, and what a kernel changed is what is written.
#include <numeric>
#include <optional>

#include "async_fixture.h"
#include "batch_fixture.h"
#include "kernels.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

size_t free_memory() {
  size_t free = 0, total = 0;
  EXPECT_EQ(hipSuccess, hipMemGetInfo(&free, &total));
  return free;
}

// By how much the free memory falls with an allocation, and rises when it is freed.
struct Change {
  size_t fall = 0;
  size_t rise = 0;
};
Change change_of(size_t size) {
  void* memory = nullptr;
  const size_t before = free_memory();
  EXPECT_EQ(hipSuccess, hipMalloc(&memory, size));
  const size_t between = free_memory();
  EXPECT_EQ(hipSuccess, hipFree(memory));
  return {before - between, free_memory() - between};
}

// Other processes may use the device, so that one measurement proves nothing.
TEST(RealDevice, FreeMemoryFallsByWhatIsAllocated) {
  constexpr size_t kGranularity = 4 * kMiB;  // of the driver, at most
  constexpr int kAttempts = 50;
  for (const size_t size : {8 * kMiB, 24 * kMiB + 4096}) {
    Change change;
    bool is_right = false;
    for (int attempt = 0; attempt < kAttempts && !is_right; ++attempt) {
      change = change_of(size);
      is_right =
          change.fall >= size && change.fall < size + kGranularity && change.rise == change.fall;
    }
    EXPECT_TRUE(is_right) << size << " bytes: fall " << change.fall << ", rise " << change.rise;
  }
}

TEST(RealDevice, WhatIsTooLargeTakesNothing) {
  const size_t before = free_memory();
  void* memory = nullptr;
  EXPECT_EQ(hipErrorOutOfMemory, hipMalloc(&memory, size_t{1} << 50));
  (void)hipGetLastError();
  EXPECT_EQ(nullptr, memory);
  EXPECT_LT(before - free_memory() + 64 * kMiB, 128 * kMiB);
}

enum class Way { kCall, kStream, kBatch };

std::string name_of(Way way) {
  return way == Way::kCall ? "Call" : way == Way::kStream ? "Stream" : "Batch";
}

// Reads and writes of an odd size at odd places, with kernels behind them in the same stream. No
// wait of ours stands between an operation in a stream and the kernel.
class KernelTest : public BatchTest, public testing::WithParamInterface<Way> {
 protected:
  static constexpr size_t kSize = 5 * kMiB + 77;
  static constexpr hoff_t kFileOffset = 4099;

  void SetUp() override {
    BatchTest::SetUp();
    kernels_.emplace();
    if (!kernels_->are_there()) GTEST_SKIP() << kernels_->why();
    set_up(1);
  }

  void move(bool is_read, const RegisteredFile& file, AsyncCall& call) {
    const size_t size = call.size;
    if (GetParam() == Way::kStream) {
      EXPECT_CODE(hipFileSuccess, is_read ? call.read(file.handle(), memory_, stream_)
                                          : call.write(file.handle(), memory_, stream_));
      return;
    }
    synchronize(stream_);  // calls and batches are tied to no stream
    if (GetParam() == Way::kCall) {
      call.bytes = is_read ? hipFileRead(file.handle(), memory_.data(), size, call.file_offset, 0)
                           : hipFileWrite(file.handle(), memory_.data(), size, call.file_offset, 0);
      return;
    }
    EXPECT_CODE(hipFileSuccess,
                submit({request(is_read ? hipFileBatchRead : hipFileBatchWrite, file.handle(),
                                memory_.data(), size, call.file_offset)}));
    call.bytes = static_cast<ssize_t>(collect(1, 1)[1].ret);
  }

  std::optional<Kernels> kernels_;
  TestStream stream_;
  Buffer memory_{kSize};
  Buffer result_{sizeof(uint64_t)};
};

TEST_P(KernelTest, SumsWhatWasRead) {
  const RegisteredFile file(this->file("from"), kFileOffset + kSize, 3);
  const std::vector<uint8_t> bytes = make_pattern(kSize, 3, kFileOffset);
  auto* const result = static_cast<uint64_t*>(result_.data());
  memory_.fill(0xee);
  result_.fill(0);
  AsyncCall read{kSize, kFileOffset};
  move(true, file, read);
  kernels_->sum(memory_.data(), kSize, result, stream_);
  synchronize(stream_);
  EXPECT_EQ(static_cast<ssize_t>(kSize), read.bytes);
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}), number(result_));
  result_.fill(0);
  kernels_->count_wrong(memory_.data(), kSize, 3, kFileOffset, result, stream_);
  synchronize(stream_);
  EXPECT_EQ(0u, number(result_));
}

TEST_P(KernelTest, ChangesWhatIsWritten) {
  const RegisteredFile from(file("from"), kFileOffset + kSize, 3);
  const RegisteredFile to(file("to"), 0, 0);
  AsyncCall read{kSize, kFileOffset}, write{kSize};
  move(true, from, read);
  kernels_->add(memory_.data(), kSize, 1, stream_);
  move(false, to, write);
  synchronize(stream_);
  EXPECT_EQ(static_cast<ssize_t>(kSize), read.bytes);
  EXPECT_EQ(static_cast<ssize_t>(kSize), write.bytes);
  std::vector<uint8_t> expected = make_pattern(kSize, 3, kFileOffset);
  for (uint8_t& byte : expected) byte = static_cast<uint8_t>(byte + 1);
  EXPECT_EQ("", first_difference(read_file(to.path()), expected));
}

INSTANTIATE_TEST_SUITE_P(, KernelTest, testing::Values(Way::kCall, Way::kStream, Way::kBatch),
                         [](const auto& it) { return name_of(it.param); });

}  // namespace
}  // namespace hipfile::test
