// SPDX-License-Identifier: MIT
//
// What runs short: device memory, memory that may be pinned, and what a driver can do. Calls work
// in a smaller or slower way, or say what was short, and all is well again when there is enough.
#include <cstdlib>
#include <filesystem>

#include "async_fixture.h"
#include "batch_fixture.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kSize = 8 * kMiB;
constexpr size_t kLarge = size_t{4} << 30;

// Takes what the device has, until it refuses a page.
class FullDevice {
 public:
  FullDevice() {
    size_t free = 0, total = 0;
    EXPECT_EQ(hipSuccess, hipMemGetInfo(&free, &total));
    for (size_t size = free; size >= kLeast;) {
      void* memory = nullptr;
      if (hipMalloc(&memory, size) == hipSuccess) {
        taken_.push_back(memory);
      } else {
        size /= 2;
      }
    }
    (void)hipGetLastError();
  }
  ~FullDevice() {
    for (void* memory : taken_) EXPECT_EQ(hipSuccess, hipFree(memory));
  }
  FullDevice(const FullDevice&) = delete;
  FullDevice& operator=(const FullDevice&) = delete;

 private:
  static constexpr size_t kLeast = 4096;
  std::vector<void*> taken_;
};

// A variable of the environment, which the fake driver looks at whenever it is called.
class Setting {
 public:
  Setting(const char* name, size_t value) : name_(name) {
    ::setenv(name, std::to_string(value).c_str(), 1);
  }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

enum class Way { kCall, kStream, kBatch };
constexpr Way kWays[] = {Way::kCall, Way::kStream, Way::kBatch};

class ShortageTest : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLoggingLevel, "WARNING"));
    EXPECT_CODE(hipFileSuccess,
                hipFileSetParameterString(hipFileParamEnvLogfilePath, file("log").c_str()));
    write_file(file("from"), make_pattern(kSize, 3));
    memory_.fill(0xee);
  }

  std::string log() const {
    if (!std::filesystem::exists(file("log"))) return "";
    const std::vector<uint8_t> bytes = read_file(file("log"));
    return std::string(bytes.begin(), bytes.end());
  }

  // One read of the whole by each way: bytes, or what the call says.
  ssize_t read_by_call(hipFileHandle_t from) {
    return hipFileRead(from, memory_.data(), kSize, 0, 0);
  }
  ssize_t read_in_stream(hipFileHandle_t from) {
    hipStream_t stream = nullptr;
    const hipError_t made = hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
    if (made != hipSuccess) return -1;
    AsyncCall call{kSize};
    said_ = call.read(from, memory_, stream);
    if (said_.err == hipFileSuccess) synchronize(stream);
    EXPECT_EQ(hipSuccess, hipStreamDestroy(stream));
    return said_.err == hipFileSuccess ? call.bytes : negated(said_.err);
  }
  ssize_t read_in_batch(hipFileHandle_t from) {
    if (batch_ == nullptr) set_up(1);
    EXPECT_CODE(hipFileSuccess, submit({request(hipFileBatchRead, from, memory_.data(), kSize)}));
    return static_cast<ssize_t>(collect(1, 1)[1].ret);
  }

  ssize_t read(Way way, hipFileHandle_t from) {
    return way == Way::kCall     ? read_by_call(from)
           : way == Way::kStream ? read_in_stream(from)
                                 : read_in_batch(from);
  }

  // Each way is right, one after the other.
  void expect_all_is_well(hipFileHandle_t from) {
    for (const Way way : kWays) {
      memory_.fill(0xee);
      EXPECT_EQ(ssize_t{kSize}, read(way, from));
      EXPECT_EQ("", first_difference(memory_.get(), make_pattern(kSize, 3)));
    }
  }

  Buffer memory_{kSize};
  hipFileError_t said_ = {};  // by a call for a stream
};

TEST_F(ShortageTest, WhatIsRefusedOnAFullDeviceIsGivenLater) {
  void* memory = nullptr;
  {
    const FullDevice full;
    for (const size_t size : {kSize, kLarge}) {
      memory = this;
      EXPECT_EQ(hipErrorOutOfMemory, hipMalloc(&memory, size));
      EXPECT_EQ(nullptr, memory);
      EXPECT_EQ(hipErrorOutOfMemory, hipGetLastError());
      EXPECT_EQ(hipErrorOutOfMemory, hipMallocAsync(&memory, size, nullptr));
      (void)hipGetLastError();
    }
  }
  EXPECT_EQ(hipSuccess, hipMalloc(&memory, kSize));
  EXPECT_EQ(hipSuccess, hipFree(memory));
}

// A real driver may refuse what it needs memory of its own for: with an error, then.
TEST_F(ShortageTest, FilesMoveOnAFullDevice) {
  const RegisteredFile to(file("to"), 0, 0);
  const Fd fd(file("from"), O_RDONLY);
  const hipFileHandle_t from = register_fd(fd.get());
  {
    const FullDevice full;
    for (const Way way : kWays) {
      const ssize_t bytes = read(way, from);
      if (!is_on_gpu() || bytes >= 0) {
        EXPECT_EQ(ssize_t{kSize}, bytes);
      }
    }
    const ssize_t written = hipFileWrite(to.handle(), memory_.data(), kSize, 0, 0);
    if (!is_on_gpu() || written >= 0) {
      EXPECT_EQ(ssize_t{kSize}, written);
    }
  }
  expect_all_is_well(from);
}

// By the fake driver, which alone can be told.
class ToldShortageTest : public ShortageTest {
 protected:
  void SetUp() override {
    ShortageTest::SetUp();
    fd_ = Fd(file("from"), O_RDONLY);
    from_ = register_fd(fd_.get());
  }
  Fd fd_;
  hipFileHandle_t from_ = nullptr;
};

TEST_F(ToldShortageTest, RingIsPageableWhereNothingCanBePinned) {
  const Setting none("FAKE_CUDA_PINNED_MEMORY", 0);
  EXPECT_EQ(ssize_t{kSize}, read_by_call(from_));
  EXPECT_EQ("", first_difference(memory_.get(), make_pattern(kSize, 3)));
  EXPECT_EQ(ssize_t{kSize}, read_in_batch(from_));
  EXPECT_EQ(ssize_t{4096}, hipFileRead(from_, memory_.data(), 4096, 0, 0));
}

TEST_F(ToldShortageTest, OperationInAStreamTakesALaneOfWhatCanBePinned) {
  const Setting little("FAKE_CUDA_PINNED_MEMORY", 7 * kMiB);  // a lane is 16 MiB where it can be
  EXPECT_EQ(ssize_t{kSize}, read_in_stream(from_));
  EXPECT_EQ("", first_difference(memory_.get(), make_pattern(kSize, 3)));
}

TEST_F(ToldShortageTest, OperationInAStreamSaysThatNothingCanBePinned) {
  {
    const Setting none("FAKE_CUDA_PINNED_MEMORY", 0);
    EXPECT_EQ(negated(hipFileHipDriverError), read_in_stream(from_));
    EXPECT_EQ(hipErrorOutOfMemory, said_.hip_drv_err);
    EXPECT_EQ(std::vector<uint8_t>(kSize, 0xee), memory_.get());
  }
  EXPECT_NE(std::string::npos, log().find("of pinned memory, which cannot be had")) << log();
  expect_all_is_well(from_);
}

TEST_F(ToldShortageTest, BlockingFormIsToldOnce) {
  const Setting lack("FAKE_CUDA_NO_WAIT_VALUE", 1);
  EXPECT_EQ(ssize_t{kSize}, read_in_stream(from_));
  EXPECT_EQ(ssize_t{kSize}, read_in_stream(from_));
  const std::string line = "do the work themselves: they cannot wait for a value";
  const std::string text = log();
  const size_t at = text.find(line);
  EXPECT_NE(std::string::npos, at) << text;
  EXPECT_EQ(std::string::npos, text.find(line, at + 1)) << text;
}

// In a process of its own (FAKE_CUDA_NO_JIT): code is loaded once.
TEST_F(ToldShortageTest, DriverThatCannotTranslateIsToldToo) {
  ASSERT_TRUE(has_setting("FAKE_CUDA_NO_JIT", "1"));
  EXPECT_EQ(hipErrorNoBinaryForGpu, hipPortableIndirectCopyStatus(0));
  (void)hipGetLastError();
  EXPECT_EQ(ssize_t{kSize}, read_in_stream(from_));
  EXPECT_EQ("", first_difference(memory_.get(), make_pattern(kSize, 3)));
  EXPECT_NE(std::string::npos, log().find("the device cannot run late-bound copies")) << log();
}

}  // namespace
}  // namespace hipfile::test
