// SPDX-License-Identifier: MIT
//
// Large transfers through one call: around the most that a call moves, 1 GiB and 4 GiB, and every
// byte of them looked at, on the device by a kernel where it runs one. They need 4 GiB of device
// memory and 8 GiB of disk, so they run when they are asked for: HIPFILE_TEST_SIZES=all.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "async_fixture.h"
#include "kernels.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr size_t kLargest = 4 * kGiB;
constexpr size_t kGuard = 4096;  // of memory behind what is moved
constexpr size_t kPart = 16 * kMiB;
constexpr uint64_t kSeed = 5;

struct Case {
  const char* name;
  size_t size;
  bool is_in_stream;
};
constexpr Case kCases[] = {{"CapLess1", kSizeCap - 1, false}, {"Cap", kSizeCap, false},
                           {"CapPlus1", kSizeCap + 1, false}, {"1GiB", kGiB, false},
                           {"4GiB", kLargest, false},         {"1GiBInAStream", kGiB, true},
                           {"4GiBInAStream", kLargest, true}};

// The file that is read is made once.
class SizeTest : public ApiTest, public testing::WithParamInterface<Case> {
 protected:
  static void SetUpTestSuite() {
    if (!has_setting("HIPFILE_TEST_SIZES", "all")) return;
    source_ = std::make_unique<TempDir>();
    const Fd fd(source_->file("from"), O_CREAT | O_RDWR);
    std::vector<uint8_t> bytes(kPart);
    for (size_t at = 0; at < kLargest; at += kPart) {
      fill_pattern(bytes.data(), kPart, kSeed, at);
      const ssize_t written = ::pwrite(fd.get(), bytes.data(), kPart, static_cast<off_t>(at));
      ASSERT_EQ(static_cast<ssize_t>(kPart), written) << "no room for the file";
    }
  }
  static void TearDownTestSuite() { source_.reset(); }

  void SetUp() override {
    ApiTest::SetUp();
    if (source_ == nullptr) GTEST_SKIP() << "runs with HIPFILE_TEST_SIZES=all";
    if (hipMalloc(&memory_, kLargest + kGuard) != hipSuccess) {
      (void)hipGetLastError();
      GTEST_SKIP() << "no 4 GiB of device memory";
    }
    kernels_.emplace();
  }
  void TearDown() override {
    kernels_.reset();
    if (memory_ != nullptr) {
      EXPECT_EQ(hipSuccess, hipFree(memory_));
    }
    ApiTest::TearDown();
  }

  uint8_t* at(size_t offset) const { return static_cast<uint8_t*>(memory_) + offset; }

  // One call at `offset` of file and memory.
  ssize_t move(bool is_read, hipFileHandle_t file, size_t size, size_t offset) const {
    const auto place = static_cast<hoff_t>(offset);
    if (!GetParam().is_in_stream) {
      return is_read ? hipFileRead(file, memory_, size, place, place)
                     : hipFileWrite(file, memory_, size, place, place);
    }
    const TestStream stream;
    AsyncCall call{size, place, place};
    const auto queue = is_read ? hipFileReadAsync : hipFileWriteAsync;
    EXPECT_CODE(hipFileSuccess, queue(file, memory_, &call.size, &call.file_offset,
                                      &call.buffer_offset, &call.bytes, stream));
    synchronize(stream);
    return call.bytes;
  }

  // The whole size, each call as much as the cap lets it.
  void move_all(bool is_read, hipFileHandle_t file) {
    const size_t size = GetParam().size;
    for (size_t done = 0; done < size;) {
      const size_t expected = std::min(size - done, kSizeCap);
      ASSERT_EQ(static_cast<ssize_t>(expected), move(is_read, file, size - done, done));
      done += expected;
    }
  }

  // The memory gets the pattern.
  void fill_memory(size_t size) {
    if (kernels_->are_there()) {
      kernels_->fill(memory_, size, kSeed, 0, nullptr);
      EXPECT_EQ(hipSuccess, hipDeviceSynchronize());
      return;
    }
    std::vector<uint8_t> bytes(kPart);
    for (size_t done = 0; done < size; done += kPart) {
      const size_t count = std::min(kPart, size - done);
      fill_pattern(bytes.data(), count, kSeed, done);
      ASSERT_EQ(hipSuccess, hipMemcpy(at(done), bytes.data(), count, hipMemcpyHostToDevice));
    }
  }

  // Nothing but the pattern, and behind it what was there.
  void expect_memory(size_t size) {
    if (kernels_->are_there()) {
      Buffer wrong(sizeof(uint64_t));
      wrong.fill(0);
      auto* const count = static_cast<uint64_t*>(wrong.data());
      kernels_->count_wrong(memory_, size, kSeed, 0, count, nullptr);
      EXPECT_EQ(hipSuccess, hipDeviceSynchronize());
      EXPECT_EQ(0u, number(wrong)) << "wrong bytes";
    } else {
      std::vector<uint8_t> bytes(kPart);
      for (size_t done = 0; done < size; done += kPart) {
        bytes.resize(std::min(kPart, size - done));
        ASSERT_EQ(hipSuccess,
                  hipMemcpy(bytes.data(), at(done), bytes.size(), hipMemcpyDeviceToHost));
        ASSERT_EQ("", first_difference(bytes, make_pattern(bytes.size(), kSeed, done))) << done;
      }
    }
    std::vector<uint8_t> guard(kGuard);
    ASSERT_EQ(hipSuccess, hipMemcpy(guard.data(), at(size), kGuard, hipMemcpyDeviceToHost));
    EXPECT_EQ("", first_difference(guard, std::vector<uint8_t>(kGuard, 0xee)));
  }

  static void expect_file(const RegisteredFile& file, size_t size) {
    ASSERT_EQ(static_cast<off_t>(size), file_size(file.path()));
    std::vector<uint8_t> bytes(kPart);
    for (size_t done = 0; done < size; done += kPart) {
      bytes.resize(std::min(kPart, size - done));
      ASSERT_EQ(static_cast<ssize_t>(bytes.size()),
                ::pread(file.fd(), bytes.data(), bytes.size(), static_cast<off_t>(done)));
      ASSERT_EQ("", first_difference(bytes, make_pattern(bytes.size(), kSeed, done))) << done;
    }
  }

  static std::unique_ptr<TempDir> source_;
  void* memory_ = nullptr;
  std::optional<Kernels> kernels_;
};

std::unique_ptr<TempDir> SizeTest::source_;

TEST_P(SizeTest, Read) {
  const Fd fd(source_->file("from"), O_RDONLY);
  const hipFileHandle_t handle = register_fd(fd.get());
  ASSERT_EQ(hipSuccess, hipMemset(memory_, 0xee, kLargest + kGuard));
  move_all(true, handle);
  expect_memory(GetParam().size);
}

TEST_P(SizeTest, Write) {
  const RegisteredFile to(file("to"), 0, 0);
  fill_memory(GetParam().size);
  move_all(false, to.handle());
  expect_file(to, GetParam().size);
}

INSTANTIATE_TEST_SUITE_P(, SizeTest, testing::ValuesIn(kCases),
                         [](const auto& it) { return it.param.name; });

}  // namespace
}  // namespace hipfile::test
